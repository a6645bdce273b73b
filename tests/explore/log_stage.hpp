// One partition for scenarios, and the oracle of its log: what may be read where, what may be written when.
//
// A ring of 2 or 4 cells makes laps short. The structures spread neighbours over eighths of the ring, so it has 8 cells
// at least: here those beyond are the same cells again (Region's alias), as if their page were mapped several times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "explore/explored_memory.hpp"
#include "explore/scenario.hpp"
#include "partition_log/publisher.hpp"
#include "partition_log/reader.hpp"
#include "recovery/recovery.hpp"
#include "support/plain_log.hpp"

namespace ringmain::explore {

using Log = partition_log::LogMemory<ExploredMemory>;

struct LogShape {
    std::uint64_t records = 2;
    std::uint32_t producer_slots = 2;
    std::uint32_t extents = 0;
    std::uint64_t extent_bytes = 64;
    std::uint32_t batch_records_max = 1;
    bool block = false;
    std::uint64_t chunk = 1;      // how far log_start moves at a time
    std::uint64_t published = 0;  // records that are there at the beginning; their ids count down from kOldId
    std::uint32_t gates = 0;      // that anybody touches
    bool names = false;           // named producers take part
    std::uint64_t first_offset = 0;
};

/// A record's value: `words` times its id and the number of the word, so that a mixture shows.
class Value {
public:
    static constexpr unsigned kWordsMax = 8;
    Value(std::uint64_t id, unsigned words) noexcept;
    [[nodiscard]] partition_log::RecordParts parts() const noexcept;
    /// The id of a value that was read, 0 if it is none.
    [[nodiscard]] static std::uint64_t id_of(const std::uint64_t* words, unsigned count) noexcept;

private:
    std::array<std::uint64_t, kWordsMax> words_{};
    unsigned count_;
};

/// What is known from outside about one execution of a log.
class LogOracle {
public:
    static constexpr std::uint64_t kOffsets = 64;
    static constexpr std::uint64_t kIds = 64;
    static constexpr std::uint64_t kOldId = 60;

    void begin(std::uint64_t first, std::uint64_t published) noexcept;
    void starts(std::uint64_t id) noexcept { started_[id] = true; }
    /// Publishing was answered with ok.
    void published(std::uint64_t id, std::uint64_t offset);
    /// A reader believes that the record is at the offset.
    void accepted(std::uint64_t id, std::uint64_t offset);
    /// A reader steps over the offset: there is no record.
    void skipped(std::uint64_t offset);

    /// 0: no record is known there.
    [[nodiscard]] std::uint64_t id_at(std::uint64_t offset) const noexcept { return at_[offset - first_]; }
    /// The record is or was at some offset.
    [[nodiscard]] bool knows(std::uint64_t id) const noexcept { return offset_of_[id] != 0; }

private:
    void is_at(std::uint64_t id, std::uint64_t place);

    std::uint64_t first_ = 0;
    std::array<std::uint64_t, kOffsets> at_{};     // from the first offset on, as the others
    std::array<std::uint64_t, kIds> offset_of_{};  // + 1
    std::array<bool, kOffsets> skipped_{};
    std::array<bool, kIds> started_{};
    std::array<bool, kIds> answered_{};
};

/// The base of all scenarios of a log. Thread i owns producer slot i, if there is one.
class LogStage : public Scenario {
public:
    LogStage(const LogShape& shape, const Bounds& bounds, unsigned threads);

    void set_up() override;
    void begin() override;
    void finish() override;
    void stores(unsigned thread, const void* address) override;
    [[nodiscard]] std::string name_of_location(const void* address) const override;

protected:
    using M = ExploredMemory;
    using Shared = partition_log::SharedPublisher<M>;

    [[nodiscard]] static constexpr std::uint64_t owner_of(unsigned thread) noexcept {
        return std::uint64_t{1} << 32 | (thread + 1);
    }
    [[nodiscard]] static constexpr unsigned thread_of(std::uint64_t owner) noexcept {
        return static_cast<unsigned>(owner & 0xff) - 1;
    }
    struct IsDead {
        bool operator()(std::uint64_t owner) const { return proven_dead(thread_of(owner)); }
    };
    [[nodiscard]] Shared shared_publisher(unsigned slot) const { return {log_, slot, kGeneration}; }

    enum class Sent : std::uint8_t { published, no_room, refused };
    /// Publishes one record of `words` x 8 bytes. Without room (block topics), or refused when every cell was
    /// quarantined or every extent held, nothing was published.
    template <class Publisher>
    Sent publish(Publisher& publisher, std::uint64_t id, unsigned words = 2) {
        oracle_.starts(id);
        const Value value(id, words);
        const partition_log::Published published = publisher.publish(value.parts());
        if (shape_.block && published.status == Status::would_block)
            return Sent::no_room;
        if (!shape_.block && published.status == Status::exhausted)
            return Sent::refused;
        require(published.status == Status::ok, "publishing fails");
        oracle_.published(id, published.offset);
        return Sent::published;
    }
    /// Where a thread publishes from now on.
    void takes_slot(unsigned thread, std::uint32_t slot, std::uint64_t generation) noexcept {
        tenures_[thread] = {slot, generation};
    }
    [[nodiscard]] std::uint32_t slot_of(unsigned thread) const noexcept { return tenures_[thread].slot; }
    [[nodiscard]] std::uint64_t generation_of(unsigned thread) const noexcept { return tenures_[thread].generation; }
    /// What a keeper does: releases every quarantined cell that it may.
    void release_cells() const;
    /// Whoever fell, a reader comes to the end; and of those who died every cell comes back, so that the producer in
    /// `slot`, who lives, can publish. For finish().
    void check_goes_on(unsigned slot, unsigned words = 2);

    enum class Open : std::uint8_t { wait, close };
    /// Reads from `from` until what is there is read, or up to an open ticket that it does not close. Where it came to.
    std::uint64_t read_from(std::uint64_t from, Open open);

    static constexpr std::uint64_t kGeneration = 1;

    LogShape shape_;
    Log log_;
    LogOracle oracle_;
    std::uint64_t gated_from_ = kNoGate;  // what a gate keeps: nothing at or above it goes
    static constexpr std::uint64_t kNoGate = ~std::uint64_t{0};

private:
    struct Tenure {
        std::uint32_t slot = 0;
        std::uint64_t generation = kGeneration;
    };
    [[nodiscard]] static test::PlainShape plain(const LogShape& shape) noexcept;
    bool accept(const partition_log::Reader<M>& reader, std::uint64_t offset, partition_log::RecordView view);
    void check_cell_write(unsigned thread, std::uint64_t index) const;
    void check_extent_write(unsigned thread, std::uint64_t extent) const;

    static constexpr std::align_val_t kAlignment{layout::kPageBytes};
    struct Free {
        void operator()(std::byte* base) const noexcept { ::operator delete(base, kAlignment); }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> base_;
    std::array<Tenure, kThreadsMax> tenures_{};
};

}  // namespace ringmain::explore
