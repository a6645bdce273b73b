// Publishing to one partition as its only producer: no fetch-add and no compare-and-swap.
//
// The holder of the lease commits with a plain release store and moves log_end after it. So nothing is ever open, nobody
// ever closes, and a successor finds whatever was committed beyond log_end by reading on (recovery).
#pragma once

#include <cstdint>
#include <span>

#include "partition_log/publisher.hpp"

namespace ringmain::partition_log {

/// Requires the lease (recovery/attachment.hpp). One thread. Progress: wait-free on overwrite topics.
/// Dying anywhere leaves at most one committed record beyond log_end.
template <class M>
class ExclusivePublisher {
public:
    ExclusivePublisher(const LogMemory<M>& log, std::uint32_t slot, std::uint64_t generation) noexcept
        : log_(log),
          tickets_(log, slot),
          bodies_(log, slot, generation),
          end_(log.control->log_end.load(std::memory_order_acquire)) {}  // acquire TICKET

    [[nodiscard]] BodyWriter<M>& bodies() noexcept { return bodies_; }
    [[nodiscard]] std::uint64_t next_offset() const noexcept { return end_; }

    [[nodiscard, gnu::always_inline]] Published publish(const RecordParts& parts) noexcept {
        if (!bodies_.fits_inline(parts.length())) [[unlikely]] return publish_large(parts);
        return publish_placed(parts, kInCell);
    }

    [[nodiscard, gnu::always_inline]] Published publish_placed(const RecordParts& parts,
                                                                 Location location) noexcept {
        if (log_.block && !has_room(log_, start_seen_)) return {no_room_status(log_)};
        const std::uint64_t offset = end_;
        write(offset, parts, location);
        ++end_;
        announce();
        return {Status::ok, offset};
    }

    /// As the shared publisher's; log_end moves once every batch_records_max records.
    [[nodiscard]] BatchPublished publish_batch(std::span<const RecordParts> parts, std::span<std::uint64_t> offsets) noexcept {
        BatchPublished result;
        for (; result.count < parts.size(); ++result.count) {
            result.status = publish_unannounced(parts[result.count], offsets[result.count]);
            if (result.status != Status::ok) break;
            if ((result.count + 1) % log_.batch_records_max == 0) announce();
        }
        announce();
        return result;
    }

private:
    [[nodiscard, gnu::noinline]] Published publish_large(RecordParts parts) noexcept {
        if (log_.block && !has_room(log_, start_seen_)) return {no_room_status(log_)};  // before the copy
        const Reserved placed = bodies_.place(parts);
        if (placed.status != Status::ok) return {placed.status};
        return publish_placed(parts, placed.location);
    }

    [[gnu::always_inline]] void write(std::uint64_t offset, const RecordParts& parts, Location location) noexcept {
        auto& cell = tickets_.cell(offset);
        tickets_.prefetch_ahead(offset);
        tickets_.pass_previous_lap_once(offset);
        tickets_.write_cell(cell, parts, location);
        M::point("exclusive.written");
        // release RECORD_COMMIT; a plain store: every other producer is gone, and nobody closes beyond log_end
        cell.word.store(cell_word(offset, CellState::committed), std::memory_order_release);
        if (location != kInCell) bodies_.committed(offset);
        M::point("exclusive.committed");
    }

    /// release TICKET: after the commits.
    [[gnu::always_inline]] void announce() noexcept { log_.control->log_end.store(end_, std::memory_order_release); }

    [[nodiscard]] Status publish_unannounced(const RecordParts& parts, std::uint64_t& offset) noexcept {
        if (!bodies_.fits_inline(parts.length())) announce();  // an extent is taken again only below log_end
        if (log_.block && !has_room(log_, start_seen_)) return no_room_status(log_);
        const Reserved placed = bodies_.place(parts);
        if (placed.status != Status::ok) return placed.status;
        offset = end_;
        write(end_++, parts, placed.location);
        return Status::ok;
    }

    LogMemory<M> log_;
    Tickets<M> tickets_;
    BodyWriter<M> bodies_;
    std::uint64_t end_;
    std::uint64_t start_seen_ = 0;
};

}  // namespace ringmain::partition_log
