// Acquiring records of one partition: first what has come due again, then what was never handed out; both in offset order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "work_table/advance.hpp"
#include "work_table/taking.hpp"

namespace ringmain::work_table {

/// Why there was not more.
enum class Short : std::uint8_t {
    no,           // as much as was asked for
    empty,        // nothing else is available
    open_ticket,  // the next offset is reserved and not decided: `at`
    window_full,  // the window begins at `at`, and its first record is not finished
    no_room,      // the caller has no memory for the next record
    fenced,       // the group was reset: this memory is of no more use
};

struct Acquired {
    std::size_t records = 0;
    Short why = Short::no;
    std::uint64_t at = 0;
};

/// One worker's way to one partition. `Records` (taking.hpp) also gets what came of it:
///     void took(std::uint64_t offset, std::uint64_t word) noexcept;          the record that was copied last is the caller's
///     void lost(std::uint64_t from, std::uint64_t to) noexcept;              retention took these before they were finished
///     void corrupt(std::uint64_t offset) noexcept;
template <class M, class Letters>
class Acquiring {
public:
    Acquiring(const WorkMemory<M>& work, const WorkRules& rules, Letters& letters, std::uint32_t slot) noexcept
        : work_(work), taking_(work, rules, letters, slot) {}

    /// Takes up to `count` records. Lock-free; dying in here leaves locks that run out, or offsets that the next sweep finds.
    template <class Records>
    [[nodiscard]] Acquired acquire(std::size_t count, std::uint64_t now, Records& records) noexcept {
        if (!work_.current()) return {0, Short::fenced, 0};
        Acquired acquired;
        sweep(count, now, records, acquired);
        for (bool looked_for_lost = false;;) {
            while (acquired.records < count && acquired.why == Short::no) claim(count, now, records, acquired);
            if (acquired.why == Short::window_full && !looked_for_lost && work_.log_start() > acquired.at) {
                looked_for_lost = true;
                acquired.why = Short::no;
                work_.lower_next_due(now, now);  // whoever holds what retention took holds nothing: no lock is waited for
                sweep(count, now, records, acquired);
                continue;
            }
            if (!move_on(records) || acquired.why != Short::window_full) return acquired;
            acquired.why = Short::no;  // it was full of what is finished: offsets without records, or lost ones
        }
    }

    /// Looks at every offset that was handed out and is not finished, if something may be due. One sweeper at a time is enough,
    /// and none is needed: who stops in here is not waited for.
    template <class Records>
    void sweep(std::size_t count, std::uint64_t now, Records& records, Acquired& acquired) noexcept {
        const std::uint64_t seen = work_.next_due();
        if (!sweep_is_due(seen, now) || !work_.change_next_due(seen, now + kSweepMs)) return;
        M::point("sweep.raised");
        std::uint64_t earliest = now + kSweepMs;
        const std::uint64_t start = work_.start();
        const std::uint64_t end = std::min(frontier(), start + work_.window());
        for (std::uint64_t offset = start; offset < end; ++offset) {
            if (is_done(work_.word_of(offset), offset)) continue;
            if (acquired.records == count || acquired.why != Short::no) {
                earliest = now;
                break;
            }
            const std::optional<std::uint64_t> due = take(offset, now, records, acquired);
            if (due && earlier(*due, earliest, now)) earliest = *due;
        }
        M::point("sweep.swept");
        work_.lower_next_due(earliest, now);
    }

private:
    /// The hint says so, or is one that no sweep leaves behind: that of a new file, when the clock is about to wrap. Whoever read
    /// the clock a little before another one swept sweeps once more.
    [[nodiscard]] static bool sweep_is_due(std::uint64_t hint, std::uint64_t now) noexcept {
        return late(hint, now) || until(hint, now) > kSweepMs;
    }

    /// Jumping comes first: a window that was moved has words at its end that are not finished.
    template <class Records>
    bool move_on(Records& records) noexcept {
        std::uint64_t from = 0;
        const std::uint64_t jumped = jump(work_, from);
        if (jumped == 0) return advance(work_);
        records.lost(from, from + jumped);
        return true;
    }

    [[nodiscard]] std::uint64_t frontier() const noexcept {
        return work_.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
    }
    bool move_frontier(std::uint64_t from, std::uint64_t to) const noexcept {
        // release FRONTIER, acquire FRONTIER: a claim ticket, not a truth
        return work_.control().frontier.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire);
    }

    /// The next run of offsets that nobody was handed. Whoever dies behind the exchange leaves them to the sweep.
    template <class Records>
    void claim(std::size_t count, std::uint64_t now, Records& records, Acquired& acquired) noexcept {
        const std::uint64_t first = frontier();
        const std::uint64_t start = work_.start();
        if (first < start) {
            move_frontier(first, start);
            return;
        }
        const std::uint64_t log_end = work_.log_end();
        const std::uint64_t window_end = start + work_.window();
        const std::uint64_t end = std::min({log_end, window_end, first + (count - acquired.records)});
        std::uint64_t behind = first;
        while (behind < end && decided(behind)) ++behind;
        if (behind == first) {
            acquired.why = first >= log_end ? Short::empty : first >= window_end ? Short::window_full : Short::open_ticket;
            acquired.at = acquired.why == Short::window_full ? start : first;
            return;
        }
        if (!move_frontier(first, behind)) return;
        M::point("claim.claimed");
        const std::uint64_t lock = taking_.fresh_lock(now);
        for (std::uint64_t offset = first; offset < behind && acquired.why == Short::no; ++offset) {
            if (const std::uint64_t word = taking_.take_fresh(offset, lock, records); word != 0) [[likely]] {
                records.took(offset, word);
                ++acquired.records;
            } else {
                take(offset, now, records, acquired);
            }
        }
        // of all locks at once; and what there was no room for is free, below the frontier
        work_.lower_next_due(acquired.why == Short::no ? time_of(lock) : now, now);
    }

    /// Answers when the offset is to be looked at again, if that is known.
    template <class Records>
    std::optional<std::uint64_t> take(std::uint64_t offset, std::uint64_t now, Records& records, Acquired& acquired) noexcept {
        const Taken taken = taking_.take(offset, now, records);
        switch (taken.took) {
            case Took::nothing: break;
            case Took::record:
                records.took(offset, taken.word);
                ++acquired.records;
                break;
            case Took::lost: records.lost(offset, offset + 1); break;
            case Took::corrupt: records.corrupt(offset); break;
            case Took::full: acquired.why = Short::no_room; break;
        }
        return taken.due;
    }

    [[nodiscard]] bool decided(std::uint64_t offset) const noexcept {
        return work_.reader().is_decided(offset) || work_.log_start() > offset;
    }

    WorkMemory<M> work_;
    Taking<M, Letters> taking_;
};

}  // namespace ringmain::work_table
