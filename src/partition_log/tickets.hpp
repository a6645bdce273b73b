// Tickets: reserving offsets with one fetch-add, and deciding each by one compare-and-swap of its cell's word.
//
// A ticket o is open from the fetch-add until the word of its cell names o or later:
//
//   COMMITTED(o)    its holder published                       commit
//   QUARANTINED(o)  somebody closed it; its holder may still   close
//                   write the cell's bytes, late
//   RELEASED(o)     no record and no late writer               give_up, release_late, the keeper
//
// The holder may write the cell's bytes only if the word names exactly the ticket one lap before (or nothing, in the first
// lap): so at most one late writer can exist per cell. Each word is left by CAS from the exact old word; words only grow,
// so a CAS that succeeds has met nobody else's change (no ABA). A process may die or stop between any two steps: docs/recovery.md.
#pragma once

#include <cstdint>

#include "partition_log/cell_word.hpp"
#include "partition_log/intents.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/log_start.hpp"
#include "partition_log/record_parts.hpp"

namespace ringmain::partition_log {

/// What became of a ticket.
enum class Decision : std::uint8_t {
    committed,
    closed,
    lapped,
    impossible,  // no sound log gave it out: nothing was done
};

template <class M>
class Tickets {
public:
    Tickets(const LogMemory<M>& log, std::uint32_t slot) noexcept
        : log_(log), entry_(&log.producers[slot]), prefetch_cells_(log.records < kPrefetchRecordsMin ? 0 : kPrefetchCells),
          last_line_((std::uint64_t{1} << log.cell_shift) - kCacheLine) {}

    /// Reserves `count` consecutive offsets and returns the first. Requires room (block policy) and count <= batch_records_max.
    /// If the process dies in here, others close what was reserved.
    [[gnu::always_inline]] std::uint64_t take(std::uint64_t count = 1) noexcept {
        if (count != count_) [[unlikely]] {
            count_ = count;
            // release ENTRY: whoever pairs it with the ticket before sees that one decided
            entry_->count.store(count, std::memory_order_release);
        }
        entry_->ticket.store(kTaking, std::memory_order_release);  // release ENTRY: before the fetch-add (x86 needs no fence)
        M::point("take.taking");
        // acq_rel TICKET: a closer that sees log_end > o sees TAKING in the entry
        const std::uint64_t first = log_.control->log_end.fetch_add(count, std::memory_order_acq_rel);
        M::point("take.taken");
        entry_->ticket.store(holding(first), std::memory_order_release);  // release ENTRY
        return first;
    }

    /// Nothing is held any more.
    void idle() noexcept { entry_->ticket.store(kIdle, std::memory_order_release); }  // release ENTRY

    // The cell of a ticket is looked up once and handed to the steps below.
    using Cell = typename LogMemory<M>::Cell;
    [[nodiscard, gnu::always_inline]] Cell& cell(std::uint64_t offset) const noexcept { return log_.cell(offset); }

    /// May the holder of a ticket write its cell? Not if the ticket was closed by others, or in here because an older ticket
    /// of the cell is still open or quarantined.
    struct Claim {
        bool mine = false;
        std::uint64_t from = 0;  // the word to commit from
    };
    [[nodiscard, gnu::always_inline]] Claim claim(Cell& cell, std::uint64_t offset) noexcept {
        const std::uint64_t seen = cell.word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE, CELL_RELEASE
        const std::uint64_t previous = offset - log_.records;
        // nearly always: the record one lap before is there, and log_start is past it
        if (seen == cell_word(previous, CellState::committed) && start_passed_ > previous) [[likely]] return {true, seen};
        return claim_from(offset, seen);
    }

    /// Publishes: the linearisation point. False: the ticket was closed meanwhile; the cell was left to others.
    [[nodiscard, gnu::always_inline]] bool commit(Cell& cell, std::uint64_t offset, std::uint64_t from) noexcept {
        M::point("commit.written");
        // release RECORD_COMMIT; lost: only a closer can have changed it, and it left a quarantined word
        if (cell.word.compare_exchange_strong(from, cell_word(offset, CellState::committed), std::memory_order_release,
                                         std::memory_order_relaxed)) [[likely]] {
            return true;
        }
        M::point("commit.lost");
        release_late(cell.word, from);
        return false;
    }

    /// Gives an unused ticket back (the rest of a batch): its offset will hold no record. Its bytes were not written.
    void give_up(std::uint64_t offset) noexcept {
        if (needs_start(log_, offset) && partition_log::out_of_reach(log_, offset)) return;
        auto& word = log_.cell(offset).word;
        std::uint64_t seen = word.load(std::memory_order_acquire);  // acquire TICKET_CLOSE
        while (!decided(seen, offset)) {
            if (!may_write(seen, offset)) {
                if (close_from(offset, seen)) return;
                continue;
            }
            pass_previous_lap_once(offset);
            // release CELL_RELEASE: what we saw in the cell before is passed on; lost: closed by others
            if (word.compare_exchange_strong(seen, cell_word(offset, CellState::released), std::memory_order_acq_rel,
                                             std::memory_order_acquire)) {
                return;
            }
        }
    }

    /// Writes a record's cell. Requires a claim of the ticket.
    [[gnu::always_inline]] static void write_cell(Cell& cell, const RecordParts& parts, Location location) noexcept {
        const auto flags = static_cast<std::uint16_t>(parts.flags | (location != kInCell ? layout::kInExtent : 0));
        // relaxed: published by the commit; readers of the old record validate against log_start
        cell.timestamp.store(static_cast<std::uint64_t>(parts.timestamp_ns), std::memory_order_relaxed);
        cell.shape.store(pack_shape(static_cast<std::uint32_t>(parts.length()), parts.key_bytes, flags), std::memory_order_relaxed);
        if (location != kInCell) {
            M::copy_in(cell.inline_bytes(), &location, sizeof location);
        } else {
            write_body<M>(cell.inline_bytes(), parts);
        }
    }

    /// The next cells are known long before their turn: fetches one for writing.
    [[gnu::always_inline]] void prefetch_ahead(std::uint64_t offset) const noexcept {
        const auto* const ahead = reinterpret_cast<const std::byte*>(&log_.cell(offset + prefetch_cells_));
        M::prefetch_for_write(ahead);
        M::prefetch_for_write(ahead + last_line_);
    }

    /// What every producer does once before it overwrites cells of a lap: log_start first, then the fence, then the bytes.
    [[gnu::always_inline]] void pass_previous_lap_once(std::uint64_t offset) noexcept {
        if (start_passed_ <= offset - log_.records) [[unlikely]] pass_now(offset);
    }

    /// Tickets that log_start may pass while they are open, for those who must know. Requires a full fence before.
    [[nodiscard]] bool passed(std::uint64_t offset) const noexcept {
        return log_.control->log_start.load(std::memory_order_acquire) > offset;  // acquire LOG_START
    }

    /// The last claim that failed did so because log_end contradicts log_start.
    [[nodiscard]] bool out_of_reach() const noexcept { return out_of_reach_; }

private:
    [[nodiscard]] bool may_write(std::uint64_t word, std::uint64_t offset) const noexcept {
        if (log_.in_first_lap(offset)) return word == 0;
        const std::uint64_t previous = offset - log_.records;
        return word == cell_word(previous, CellState::committed) || word == cell_word(previous, CellState::released);
    }

    [[gnu::noinline]] void pass_now(std::uint64_t offset) noexcept {
        if (!needs_start(log_, offset)) return;
        start_passed_ = pass_previous_lap(log_, offset);
        M::fence(std::memory_order_release);  // release LOG_START: before the stores into the cell
    }

    [[nodiscard, gnu::noinline]] Claim claim_from(std::uint64_t offset, std::uint64_t seen) noexcept {
        out_of_reach_ = needs_start(log_, offset) && partition_log::out_of_reach(log_, offset);
        if (out_of_reach_) return {};  // log_start is not moved by a ticket that cannot be
        while (!may_write(seen, offset)) {
            if (decided(seen, offset)) return {};
            if (close_from(offset, seen)) return {};  // lost: `seen` is new, and may have become ours
        }
        pass_previous_lap_once(offset);
        return {true, seen};
    }

    bool close_from(std::uint64_t offset, std::uint64_t& seen) noexcept;
    [[gnu::noinline]] void release_late(typename M::template Atomic<std::uint64_t>& word, std::uint64_t seen) noexcept;

    static constexpr std::uint64_t kPrefetchCells = 24;
    static constexpr std::uint64_t kPrefetchRecordsMin = 256;  // smaller rings stay in the cache
    static constexpr std::uint64_t kCacheLine = 64;

    LogMemory<M> log_;
    typename LogMemory<M>::Producer* entry_;
    std::uint64_t prefetch_cells_;
    std::uint64_t last_line_;  // of a cell; in one of 64 bytes the only one
    std::uint64_t start_passed_ = 0;
    std::uint64_t count_ = 0;
    bool out_of_reach_ = false;
};

/// One attempt to close the open ticket `offset` whose cell's word is `seen` (older than offset). True: closed here.
/// False: `seen` is the word that was found instead.
template <class M>
bool try_close(const LogMemory<M>& log, std::uint64_t offset, std::uint64_t& seen) noexcept {
    // the record one lap before goes with the closing: its readers must learn of it
    if (needs_start(log, offset)) pass_previous_lap(log, offset);
    return close_passed(log, offset, seen);
}

/// Closes the open ticket `offset` from the word that was seen in its cell. True: closed here. False: it was decided, by the
/// word that is seen now.
template <class M>
bool close_while_open(const LogMemory<M>& log, std::uint64_t offset, std::uint64_t& seen) noexcept {
    while (!decided(seen, offset)) {
        if (try_close(log, offset, seen)) return true;
    }
    return false;
}

/// Decides a ticket that somebody else holds, by closing it if it is open. Anybody may, at any time; the holder then
/// publishes under a new offset. Requires offset < log_end, seen by the caller with acquire TICKET.
template <class M>
Decision close_ticket(const LogMemory<M>& log, std::uint64_t offset) noexcept {
    if (needs_start(log, offset) && out_of_reach(log, offset)) return Decision::impossible;
    std::uint64_t seen = log.cell(offset).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
    if (close_while_open(log, offset, seen)) return Decision::closed;
    if (offset_of(seen) > offset) return Decision::lapped;
    return state_of(seen) == CellState::committed ? Decision::committed : Decision::closed;
}

/// The same for who counts what it closed. True: the ticket was open, and nobody else closed it.
template <class M>
bool close_if_open(const LogMemory<M>& log, std::uint64_t offset) noexcept {
    if (needs_start(log, offset) && out_of_reach(log, offset)) return false;
    std::uint64_t seen = log.cell(offset).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
    return close_while_open(log, offset, seen);
}

template <class M>
bool Tickets<M>::close_from(std::uint64_t offset, std::uint64_t& seen) noexcept {
    return try_close(log_, offset, seen);
}

/// The commit was lost: this holder is the one late writer of the cell, and says that it is done with it.
template <class M>
void Tickets<M>::release_late(typename M::template Atomic<std::uint64_t>& word, std::uint64_t seen) noexcept {
    while (state_of(seen) == CellState::quarantined) {
        // release CELL_RELEASE: our late stores come before; lost: a later ticket of the cell was closed too, follow it
        if (word.compare_exchange_strong(seen, cell_word(offset_of(seen), CellState::released), std::memory_order_release,
                                         std::memory_order_relaxed)) {
            log_.control->released_cells.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
            return;
        }
    }
}

}  // namespace ringmain::partition_log
