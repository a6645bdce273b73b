// Attempts at the records of a partition whose owner retries what fails: the words of a queue, locked by tenure instead
// of time.
//
//   free, READY --begin--> LOCKED(this tenure) --succeed--> DONE
//                             |--fail--> READY after the back-off, or condemned: then a dead letter, or as the group
//                             says
//
// Only the owner of the partition works here, and its tenure is the generation of the partition's word in the groups
// table. The words survive it: whoever owns the partition next finds how often each record was tried. A lock of another
// tenure is an attempt that never ended; nobody waits for it, and its holder, if it is alive, is refused by comparison.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "work_table/letters.hpp"
#include "work_table/work_memory.hpp"
#include "work_table/work_rules.hpp"

namespace ringmain::work_table {

/// What may be done with a record.
enum class Turn : std::uint8_t {
    ready,      // to be attempted: begin
    waits,      // until `due`
    condemned,  // no attempt is left and it is not finished: looked at again when `due`, or the group stops there
    finished,
    fenced,  // the tenure is over: nothing of this partition is the caller's any more
};

struct TurnOf {
    Turn turn = Turn::ready;
    std::uint64_t word = 0;  // ready: for begin
    std::optional<std::uint64_t> due = std::nullopt;
    bool died = false;                   // an attempt was found that never ended
    std::uint32_t attempts = 0;          // begun so far
    DoneReason how = DoneReason::acked;  // finished
};

/// What became of a record that is not to be attempted any more.
enum class GivenUp : std::uint8_t {
    done,      // it was unfinished, and is not any more
    finished,  // before, or the tenure is over
    kept,      // its letter was announced, and whether it is there cannot be found out now: nothing was done
};

template <class M, class Letters>
class Attempts {
public:
    /// `work`: of this tenure, see WorkMemory::generation. `stops`: what used its attempts up stays, and the group
    /// stops there. `slot`: of the member.
    Attempts(const WorkMemory<M>& work, const WorkRules& rules, bool stops, Letters& letters,
             std::uint32_t slot) noexcept
        : work_(work), rules_(rules), stops_(stops), slot_(slot), letters_(work, rules, letters, slot) {}

    /// Once, before anything else of the tenure. After the group was moved, what lies before its position is to be done
    /// anew, whatever its words say; and what it has left behind is made free. Dying in here repeats it.
    void take_over(std::uint64_t start, std::uint64_t now) noexcept {
        const std::uint64_t moved = work_.control().rewound.load(std::memory_order_acquire);  // acquire REWOUND
        const std::uint64_t used =
            std::min(work_.window(), work_.control().frontier.load(std::memory_order_acquire));  // acquire FRONTIER
        const std::uint64_t mask = work_.window() - 1;
        for (std::uint64_t cell = 0; cell < used; ++cell) {
            if (!tidy(start + ((cell - start) & mask), moved != 0, now))
                return;
        }
        M::point("takeover.tidied");
        // a mark of a generation that is still to come stays: the exchange that it announces has not happened yet
        if (moved != 0 && is_reached(moved))
            work_.clear_rewound(moved);
    }

    /// Finds out what is next for a record that nobody in this process attempts, and does what can be done without a
    /// handler: an attempt that never ended is counted, a letter is written.
    [[nodiscard]] TurnOf look(std::uint64_t offset, std::uint64_t now) noexcept {
        bool died = false;
        for (;;) {
            const std::uint64_t seen = work_.word_of(offset);
            if (is_done(seen, offset))
                return {.turn = Turn::finished, .died = died, .how = done_reason(seen)};
            if (!work_.current())
                return {.turn = Turn::fenced, .died = died};
            if (is_free(seen, work_.lap(offset)))
                return {.word = seen, .died = died};
            const std::uint32_t count = count_of(seen);
            switch (state_of(seen)) {
                case WorkState::ready:
                    if (condemned(seen) || rules_.used_up(count)) {
                        if (const auto left = end(offset, seen, now))
                            return *left;
                        break;
                    }
                    if (!late(time_of(seen), now))
                        return {.turn = Turn::waits, .due = time_of(seen), .died = died, .attempts = count};
                    return {.word = seen, .died = died, .attempts = count};
                case WorkState::locked:
                    died = take_back(offset, seen, now) || died;
                    break;
                case WorkState::preparing:
                    work_.change(offset, seen, condemned_word(count, now, reason_of(seen), work_.lap(offset)));
                    break;
                case WorkState::intent:
                    if (letters_.finish(offset, seen, now) != Ended::finished)
                        return refused(offset, count, now);
                    break;
                case WorkState::done:
                    break;
            }
        }
    }

    /// Begins an attempt, and counts it: dying from here on has used it up. `seen`: the word of a look. Answers the
    /// lock, or nothing: look again. The handler is called only after this, with the tenure standing.
    [[nodiscard]] std::optional<std::uint64_t> begin(std::uint64_t offset, std::uint64_t seen) noexcept {
        const bool fresh = is_free(seen, work_.lap(offset));
        const std::uint32_t count = fresh ? 0 : count_of(seen);
        const std::uint64_t tag = fresh ? 0 : tag_of(seen) + 1;
        const std::uint64_t lock =
            locked_word(rules_.next_count(count), tag, work_.generation(), slot_, work_.lap(offset));
        work_.raise_frontier(offset + 1);
        M::point("attempt.seen");
        if (!work_.current() || !work_.change(offset, seen, lock))
            return std::nullopt;
        M::point("attempt.locked");
        if (!work_.current()) {  // another's since: it was not for us to count
            work_.change(offset, lock, seen);
            return std::nullopt;
        }
        if (count != 0)
            work_.count(work_.control().redelivered);
        return lock;
    }

    /// The answers of who attempted it, of whatever tenure: each is one exchange from exactly the lock. False: refused,
    /// the record went to another member meanwhile, and what this one says of it is not recorded.
    bool succeed(std::uint64_t offset, std::uint64_t lock) const noexcept {
        return settle(offset, lock, done_word(offset, DoneReason::acked));
    }
    /// To be followed by a look.
    bool fail(std::uint64_t offset, std::uint64_t lock, std::uint64_t now) const noexcept {
        return settle(offset, lock, after_failure(offset, lock, now, LetterReason::limit));
    }
    bool reject(std::uint64_t offset, std::uint64_t lock, std::uint64_t now) const noexcept {
        return settle(offset, lock, condemned_word(count_of(lock), now, LetterReason::rejected, work_.lap(offset)));
    }
    /// The handler was not called: the attempt does not count.
    bool give_back(std::uint64_t offset, std::uint64_t lock, std::uint64_t now) const noexcept {
        return settle(offset, lock, ready_word(count_of(lock) - 1, tag_of(lock), now, work_.lap(offset)));
    }
    /// Finishes a record that nobody in this process attempts, and nobody will: retention took it, or its bytes are
    /// damaged. One whose letter was announced has that letter, or gets one.
    GivenUp give_up(std::uint64_t offset, DoneReason why, std::uint64_t now) noexcept {
        for (;;) {
            const std::uint64_t seen = work_.word_of(offset);
            if (is_done(seen, offset) || !work_.current())
                return GivenUp::finished;
            if (!is_free(seen, work_.lap(offset)) && state_of(seen) == WorkState::intent) {
                const Ended ended = letters_.finish(offset, seen, now);
                if (ended == Ended::unknown)
                    return GivenUp::kept;
                if (ended == Ended::finished)
                    continue;
            }
            if (!work_.change(offset, seen, done_word(offset, why)))
                continue;
            if (why == DoneReason::lost)
                work_.count(work_.control().lost);
            return GivenUp::done;
        }
    }

    [[nodiscard]] const WorkMemory<M>& work() const noexcept { return work_; }

private:
    bool settle(std::uint64_t offset, std::uint64_t lock, std::uint64_t to) const noexcept {
        M::point("attempt.ended");
        return work_.change(offset, lock, to);
    }

    [[nodiscard]] std::uint64_t after_failure(std::uint64_t offset, std::uint64_t lock, std::uint64_t now,
                                              LetterReason reason) const noexcept {
        const std::uint32_t count = count_of(lock);
        if (rules_.used_up(count))
            return condemned_word(count, now, reason, work_.lap(offset));
        return ready_word(count, tag_of(lock), now + rules_.backoff(offset, count), work_.lap(offset));
    }

    /// An attempt that never ended: its process died, or lost the partition while it was at it.
    bool take_back(std::uint64_t offset, std::uint64_t seen, std::uint64_t now) const noexcept {
        if (!work_.change(offset, seen, after_failure(offset, seen, now, LetterReason::died)))
            return false;  // it ended just now
        M::point("attempt.taken.back");
        work_.count(work_.control().returned);
        return true;
    }

    /// Nothing: it is to be looked at again.
    [[nodiscard]] std::optional<TurnOf> end(std::uint64_t offset, std::uint64_t seen, std::uint64_t now) noexcept {
        const std::uint32_t count = count_of(seen);
        if (stops_)
            return TurnOf{.turn = Turn::condemned, .attempts = count};
        if (!late(time_of(seen), now))
            return TurnOf{.turn = Turn::condemned, .due = time_of(seen), .attempts = count};
        const std::uint64_t mine = letters_.preparing(offset, count, reason_of(seen), now);
        if (!work_.change(offset, seen, mine))
            return std::nullopt;
        M::point("attempt.preparing");
        if (letters_.end(offset, mine, now) == Ended::refused)
            return refused(offset, count, now);
        return std::nullopt;
    }

    [[nodiscard]] TurnOf refused(std::uint64_t offset, std::uint32_t count, std::uint64_t now) const noexcept {
        const std::uint64_t wait = std::max(kLetterAgainMs, rules_.backoff(offset, count == 0 ? 1 : count));
        return {.turn = Turn::condemned, .due = (now + wait) & kClockMask, .attempts = count};
    }

    /// False: the tenure is over.
    bool tidy(std::uint64_t offset, bool anew, std::uint64_t now) noexcept {
        for (;;) {
            const std::uint64_t seen = work_.word_of(offset);
            const bool done = state_of(seen) == WorkState::done;
            const bool mine = done ? is_done(seen, offset) : lap_bits(seen) == work_.lap(offset);
            if (seen == 0 || (mine ? !anew : done))
                return true;
            if (!work_.current())
                return false;
            if (mine && state_of(seen) == WorkState::intent) {
                (void)letters_.finish(offset, seen, now);  // so that nobody commits at that ticket any more
                if (work_.word_of(offset) == seen)
                    return true;
                continue;
            }
            // what the group has left behind unfinished must not be met a lap-cycle later
            const std::uint64_t left =
                offset >= work_.window() ? done_word(offset - work_.window(), DoneReason::lost) : 0;
            // a record that is to be done anew is locked first: when that is put back, nobody else's word is the same
            const std::uint64_t tag = tag_of(seen) + 1;
            const std::uint64_t lock = locked_word(0, tag, work_.generation(), slot_, work_.lap(offset));
            const std::uint64_t to = mine ? lock : left;
            M::point("takeover.seen");
            if (!work_.change(offset, seen, to))
                continue;
            M::point("takeover.changed");
            if (!work_.current()) {
                work_.change(offset, to, seen);  // the next owner's to do, who finds the mark
                return false;
            }
            if (!mine || work_.change(offset, lock, ready_word(0, tag, now, work_.lap(offset))))
                return true;
        }
    }

    [[nodiscard]] bool is_reached(std::uint64_t generation) const noexcept {
        return static_cast<std::int32_t>(work_.generation() - static_cast<std::uint32_t>(generation)) >=
               0;  // they may wrap
    }

    WorkMemory<M> work_;
    WorkRules rules_;
    bool stops_;
    std::uint32_t slot_;
    Lettering<M, Letters> letters_;
};

}  // namespace ringmain::work_table
