// One partition, attached to by one producer: its mapping, its slot and its publisher.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "broker_impl.hpp"
#include "partition_log/doorbell.hpp"
#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/named_publisher.hpp"
#include "partition_log/publisher.hpp"
#include "platform/mapping.hpp"
#include "platform/memory.hpp"
#include "ringmain/producer.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Not thread-safe. Detaches when destroyed, except in a fork()ed child.
class PartitionProducer {
public:
    using Memory = platform::HostMemory;
    using Log = partition_log::LogMemory<Memory>;
    using Shared = partition_log::SharedPublisher<Memory>;
    using Exclusive = partition_log::ExclusivePublisher<Memory>;

    using Named = partition_log::NamedPublisher<Memory>;

    /// `name`: empty, or that of a named producer. Throws Error: busy, limit, permission_denied, corrupt, version_mismatch,
    /// not_found, invalid_argument (a name that cannot be told from another one).
    PartitionProducer(std::shared_ptr<Broker::Impl> broker, std::shared_ptr<const TopicFiles> topic, std::uint32_t partition,
                      bool exclusive, std::string_view name);
    PartitionProducer(const PartitionProducer&) = delete;
    PartitionProducer& operator=(const PartitionProducer&) = delete;
    ~PartitionProducer();

    [[nodiscard, gnu::always_inline]] partition_log::Published publish(const partition_log::RecordParts& parts) noexcept {
        if (shared_) return after(shared_->publish(parts));
        return after(exclusive_->publish(parts));
    }
    [[nodiscard]] partition_log::Published publish_placed(const partition_log::RecordParts& parts,
                                                          partition_log::Location location) noexcept {
        if (shared_) return after(shared_->publish_placed(parts, location));
        return after(exclusive_->publish_placed(parts, location));
    }
    [[nodiscard]] partition_log::BatchPublished publish_batch(std::span<const partition_log::RecordParts> parts,
                                                              std::span<std::uint64_t> offsets) noexcept;

    // Named producers only. The parts carry the stamp of the sequence.
    [[nodiscard]] partition_log::Published publish_named(const partition_log::RecordParts& parts, std::uint64_t sequence) noexcept;
    [[nodiscard]] partition_log::Published publish_named_placed(const partition_log::RecordParts& parts,
                                                                partition_log::Location location, std::uint64_t sequence) noexcept;
    [[nodiscard]] std::uint64_t last_sequence() const noexcept { return named_->last(); }

    // Shared producers only: a ticket in two steps, for callers that must name the offset before the record exists there.
    [[nodiscard]] partition_log::Published take_ticket() noexcept { return shared_->take_ticket(); }
    /// Commits a body that is in place at exactly that ticket. False: it was closed, and there will be no record at it.
    [[nodiscard]] bool commit_at(std::uint64_t ticket, const partition_log::RecordParts& parts, partition_log::Location location) noexcept;
    void give_up(std::uint64_t ticket) noexcept;
    /// The last commit failed because the log's offsets contradict each other.
    [[nodiscard]] bool out_of_reach() const noexcept { return shared_->out_of_reach(); }

    [[nodiscard]] partition_log::BodyWriter<Memory>& bodies() noexcept {
        return shared_ ? shared_->bodies() : exclusive_->bodies();
    }
    [[nodiscard]] const Log& log() const noexcept { return log_; }
    /// Nothing is published here any more: why() says why.
    [[nodiscard]] bool gone() const noexcept { return !doorbell_.quiet() && doorbell_.gone(); }
    [[nodiscard]] Status why() const noexcept { return doorbell_.deleted() ? Status::topic_deleted : Status::corrupt; }
    /// Works again if `now`, the partition's file as it can be used now, is the one that is open. False: it is another.
    [[nodiscard]] bool revive(const platform::Mapping& now) noexcept;
    /// It will never come back: the mapping is no file any more.
    [[nodiscard]] bool lost() const noexcept { return mapping_.truncated() || !topic_->readers_whole(); }

    /// Drops gates whose holders are proven dead; for a producer that is held up. Returns how many.
    std::uint64_t reap_gates() noexcept;
    [[nodiscard]] std::optional<GateDescription> lowest_gate() const;

private:
    /// What is owed to others after a commit: nearly always one load.
    [[nodiscard, gnu::always_inline]] partition_log::Published after(partition_log::Published published) noexcept {
        if (full_fence_) [[unlikely]] Memory::fence(std::memory_order_seq_cst);  // the kernel refuses the asymmetric barrier
        if (!doorbell_.quiet()) [[unlikely]] published.status = answer_doorbell(published.status);
        return published;
    }
    /// Wakes and closes. What was published into a mapping that is no file any more was not published.
    [[nodiscard]] Status answer_doorbell(Status status) noexcept;
    void attach(bool exclusive);
    void claim_name(std::string_view name);
    void detach() noexcept;

    std::shared_ptr<Broker::Impl> broker_;
    std::shared_ptr<const TopicFiles> topic_;
    std::uint32_t partition_;
    std::uint64_t owner_;
    platform::Mapping mapping_;
    Log log_;
    partition_log::Doorbell<Memory> doorbell_;
    bool full_fence_ = false;
    std::uint32_t slot_ = 0;
    std::optional<Shared> shared_;
    std::optional<Exclusive> exclusive_;
    std::uint32_t named_entry_ = 0;
    std::optional<Named> named_;
};

}  // namespace ringmain
