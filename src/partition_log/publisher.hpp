// Publishing to one partition as one of many producers, or as its only one.
//
//   copy a large body into the own extent -> room? -> take a ticket -> claim the cell -> write it -> commit -> idle
//                                              ^                            | lost: closed by others
//                                              +----------------------------+ again, under a new ticket
#pragma once

#include <cstdint>
#include <span>

#include "partition_log/extents.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/record_parts.hpp"
#include "partition_log/tickets.hpp"
#include "ringmain/status.hpp"

namespace ringmain::partition_log {

struct Published {
    Status status = Status::ok;
    std::uint64_t offset = 0;
};

/// How many records of a batch were published, and why not the next one.
struct BatchPublished {
    Status status = Status::ok;
    std::size_t count = 0;
};

/// Memory for a body in the producer's extent: what a loan is made of.
struct Reserved {
    Status status = Status::ok;
    Location location = kInCell;
};

/// What shared and exclusive producers have in common: bodies in extents.
template <class M>
class BodyWriter {
public:
    BodyWriter(const LogMemory<M>& log, std::uint32_t slot, std::uint64_t generation) noexcept
        : log_(log), extents_(log, slot, generation) {}

    [[nodiscard]] bool fits_inline(std::uint64_t length) const noexcept { return length <= log_.inline_bytes; }

    /// Reserves memory in the extent; `pinned` bodies are committed later, and until then the extent stays.
    [[nodiscard]] Reserved reserve(std::uint64_t length) noexcept {
        if (length > log_.record_bytes_max()) return {Status::too_large};
        if (!extents_.fits(length)) {
            if (pinned_) return {Status::loan_outstanding};
            if (!extents_.change()) return {extents_.refusal()};
        }
        return {Status::ok, extents_.reserve(length)};
    }

    void pin() noexcept { pinned_ = true; }
    void unpin() noexcept { pinned_ = false; }
    void give_back(std::uint64_t location, std::uint64_t length) noexcept { extents_.unreserve(location, length); }
    [[nodiscard]] bool fits_extent(std::uint64_t length) const noexcept { return extents_.fits(length); }
    void committed(std::uint64_t offset) noexcept { extents_.committed(offset); }
    void seal() noexcept { extents_.seal(); }

    /// Puts the body where it will stay: nowhere yet if it fits a cell, else into the extent.
    [[nodiscard]] Reserved place(const RecordParts& parts) noexcept {
        const std::uint64_t length = parts.length();
        if (fits_inline(length)) return {};
        const Reserved reserved = reserve(length);
        if (reserved.status != Status::ok) return reserved;
        write_body<M>(log_.payload + reserved.location, parts);
        return reserved;
    }

private:
    LogMemory<M> log_;
    ExtentWriter<M> extents_;
    bool pinned_ = false;
};

/// A producer among others. Requires an attached slot (recovery/attachment.hpp). One thread at a time.
/// Progress: lock-free; nobody is waited for. Dying anywhere leaves at most one run of open tickets, which others close.
template <class M>
class SharedPublisher {
public:
    SharedPublisher(const LogMemory<M>& log, std::uint32_t slot, std::uint64_t generation) noexcept
        : log_(log), tickets_(log, slot), bodies_(log, slot, generation) {}

    [[nodiscard]] BodyWriter<M>& bodies() noexcept { return bodies_; }

    [[nodiscard, gnu::always_inline]] Published publish(const RecordParts& parts) noexcept {
        if (!bodies_.fits_inline(parts.length())) [[unlikely]] return publish_large(parts);
        if (log_.block && !has_room(log_, start_seen_)) [[unlikely]] return {no_room_status(log_)};
        const std::uint64_t offset = tickets_.take();
        if (write_and_commit(offset, parts, kInCell)) [[likely]] {
            tickets_.idle();
            return {Status::ok, offset};
        }
        return publish_placed(parts, kInCell);  // the ticket was closed: again under a new one
    }

    /// Publishes a body that is in place already (a loan). On any answer but ok the body stays reserved. The parts are a
    /// value, so that the caller need not have them in memory.
    [[nodiscard, gnu::noinline]] Published publish_placed(RecordParts parts, Location location) noexcept {
        for (std::uint64_t tries = 0; tries <= log_.records; ++tries) {
            if (log_.block && !has_room(log_, start_seen_)) {
                tickets_.idle();
                return {no_room_status(log_)};
            }
            const std::uint64_t offset = tickets_.take();
            if (write_and_commit(offset, parts, location)) {
                tickets_.idle();
                return {Status::ok, offset};
            }
            if (tickets_.out_of_reach()) {
                tickets_.idle();
                return {Status::corrupt};
            }
        }
        tickets_.idle();
        return {Status::exhausted};
    }

    // Tickets in two steps, for callers that must name the offset somewhere before the record exists there.

    /// Reserves one offset. ok or would_block. The ticket must be committed or given up before this publisher's next call;
    /// others may close it at any time.
    [[nodiscard]] Published take_ticket() noexcept {
        if (log_.block && !has_room(log_, start_seen_)) return {no_room_status(log_)};
        return {Status::ok, tickets_.take()};
    }

    /// Commits at exactly that ticket, or says that it was closed; never publishes under another offset. If there is no
    /// memory for the body (the status tells) the ticket is given up.
    struct CommittedAt {
        Status status = Status::ok;
        Decision decision = Decision::closed;
    };
    [[nodiscard]] CommittedAt commit_at(std::uint64_t ticket, const RecordParts& parts) noexcept {
        const Reserved placed = bodies_.place(parts);
        if (placed.status != Status::ok) {
            give_up(ticket);
            return {placed.status, Decision::closed};
        }
        const bool committed = write_and_commit(ticket, parts, placed.location);
        tickets_.idle();
        return {Status::ok, committed ? Decision::committed : Decision::closed};
    }

    void give_up(std::uint64_t ticket) noexcept {
        tickets_.give_up(ticket);
        tickets_.idle();
    }

    /// Commits a body that is in place, or gives the ticket up if log_start has passed it already. Requires a full fence after
    /// the ticket was named. False: nothing is held any more, and no record exists at the ticket.
    [[nodiscard]] bool commit_unless_passed(std::uint64_t ticket, const RecordParts& parts, Location location) noexcept {
        if (tickets_.passed(ticket)) {
            give_up(ticket);
            return false;
        }
        const bool committed = write_and_commit(ticket, parts, location);
        tickets_.idle();
        return committed;
    }
    [[nodiscard]] bool out_of_reach() const noexcept { return tickets_.out_of_reach(); }

    /// Publishes records in order under one reservation at a time; `offsets` gets each record's offset. Until then it has
    /// where the record's body is. Requires parts.size() <= offsets.size().
    [[nodiscard]] BatchPublished publish_batch(std::span<const RecordParts> parts, std::span<std::uint64_t> offsets) noexcept {
        std::size_t done = 0;
        std::uint64_t tries = 0;
        while (done < parts.size()) {
            if (log_.block && !has_room(log_, start_seen_)) return {no_room_status(log_), done};  // before the copies
            const Run run = place_run(parts.subspan(done), offsets.subspan(done));
            if (run.status != Status::ok) return {run.status, done};
            std::size_t in_run = 0;
            while (in_run < run.count) {
                if (log_.block && !has_room(log_, start_seen_)) return {no_room_status(log_), done};
                if (tries++ > log_.records) return {Status::exhausted, done};
                const std::size_t committed = commit_run(parts.subspan(done, run.count - in_run), offsets.subspan(done));
                in_run += committed;
                done += committed;
                if (committed != 0) {
                    tries = 0;
                } else if (tickets_.out_of_reach()) {
                    return {Status::corrupt, done};
                }
            }
        }
        return {Status::ok, done};
    }

private:
    struct Run {
        Status status = Status::ok;
        std::size_t count = 0;
    };

    [[nodiscard, gnu::noinline]] Published publish_large(RecordParts parts) noexcept {
        if (log_.block && !has_room(log_, start_seen_)) return {no_room_status(log_)};  // before the copy
        const Reserved placed = bodies_.place(parts);
        if (placed.status != Status::ok) return {placed.status};
        const Published published = publish_placed(parts, placed.location);
        if (published.status != Status::ok) bodies_.give_back(placed.location, parts.length());
        return published;
    }

    [[nodiscard, gnu::always_inline]] bool write_and_commit(std::uint64_t offset, const RecordParts& parts,
                                                            Location location) noexcept {
        auto& cell = tickets_.cell(offset);
        tickets_.prefetch_ahead(offset);
        const auto claim = tickets_.claim(cell, offset);
        if (!claim.mine) [[unlikely]] return false;
        tickets_.write_cell(cell, parts, location);
        if (!tickets_.commit(cell, offset, claim.from)) [[unlikely]] return false;
        if (location != kInCell) bodies_.committed(offset);
        return true;
    }

    /// The longest run whose large bodies are in the extent together: nothing may be reserved in an extent that is sealed.
    [[nodiscard]] Run place_run(std::span<const RecordParts> parts, std::span<Location> locations) noexcept {
        const std::size_t most = parts.size() < log_.batch_records_max ? parts.size() : log_.batch_records_max;
        std::size_t count = 0;
        for (; count < most; ++count) {
            const std::uint64_t length = parts[count].length();
            if (bodies_.fits_inline(length)) [[likely]] {
                locations[count] = kInCell;
                continue;
            }
            if (count != 0 && !bodies_.fits_extent(length)) break;
            const Reserved placed = bodies_.place(parts[count]);
            if (placed.status != Status::ok) return {placed.status, 0};
            locations[count] = placed.location;
        }
        return {Status::ok, count};
    }

    /// One reservation for the rest of a placed run. The first ticket that is lost gives up those behind it, so that the
    /// order inside the batch is kept. Returns how many were committed.
    [[nodiscard]] std::size_t commit_run(std::span<const RecordParts> parts, std::span<std::uint64_t> offsets) noexcept {
        const std::uint64_t first = tickets_.take(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const std::uint64_t offset = first + i;
            if (!write_and_commit(offset, parts[i], offsets[i])) {
                for (std::size_t rest = i + 1; rest < parts.size(); ++rest) tickets_.give_up(first + rest);
                tickets_.idle();
                return i;
            }
            offsets[i] = offset;
        }
        tickets_.idle();
        return parts.size();
    }

    LogMemory<M> log_;
    Tickets<M> tickets_;
    BodyWriter<M> bodies_;
    std::uint64_t start_seen_ = 0;
};

}  // namespace ringmain::partition_log
