// Taking one record: the only way from available to acquired.
//
//   word seen -> the word that is to be -> exchange -> still in the window? -> copied -> still in the log? -> handed out
//
// The word is read before the start: so it is this offset's or older. The start is read again behind the exchange: an equal
// word of a later lap gives itself away there and is put back as it was.
#pragma once

#include <cstdint>
#include <optional>

#include "work_table/letters.hpp"
#include "work_table/work_memory.hpp"
#include "work_table/work_rules.hpp"

namespace ringmain::work_table {

enum class Took : std::uint8_t {
    nothing,  // not to be had, by nobody or not now; `due` tells when, if it is known
    record,   // locked, and copied
    lost,     // retention took it: finished here, and to be told
    corrupt,  // its bytes contradict the layout: finished here, and to be told
    full,     // available, but the caller has no room for it; left as it was
};

struct Taken {
    Took took = Took::nothing;
    std::uint64_t word = 0;            // of the lock
    std::optional<std::uint64_t> due = std::nullopt;  // when to look again
};

/// What a record says of itself before anybody has it.
struct Peeked {
    partition_log::Found found = partition_log::Found::nothing;
    std::optional<std::uint64_t> delay_ms = std::nullopt;  // how much longer nobody is to get it, seen from now; only of records that ask for a delay
    bool expired = false;                   // its time to live is over
};

/// What a copy of a record became. To be believed only if the log start has not passed it.
enum class Received : std::uint8_t {
    record,
    full,     // there is no room; nothing was copied
    gone,     // it is not there any more
    corrupt,
};

/// `Records`, the log as the caller sees it:
///     Peeked peek(std::uint64_t offset) noexcept;
///     Received copy(std::uint64_t offset) noexcept;
///     bool copy_plain(std::uint64_t offset) noexcept;    as copy, but false of any but a record without headers that there is room for
///     void drop() noexcept;                          the record that was copied last is not the caller's after all
template <class M, class Letters>
class Taking {
public:
    Taking(const WorkMemory<M>& work, const WorkRules& rules, Letters& letters, std::uint32_t slot) noexcept
        : work_(work), rules_(rules), slot_(slot), letters_(work, rules, letters, slot) {}

    template <class Records>
    [[nodiscard]] Taken take(std::uint64_t offset, std::uint64_t now, Records& records) noexcept {
        for (;;) {
            const std::uint64_t seen = work_.word_of(offset);
            if (work_.start() > offset || is_done(seen, offset)) return {};
            const Step step = next(offset, seen, now, records);
            switch (step.kind) {
                case Step::leave: return {Took::nothing, 0, step.due};
                case Step::finish: (void)letters_.finish(offset, seen, now); return {};
                default: break;
            }
            M::point("take.seen");
            if (!work_.change(offset, seen, step.word)) continue;
            M::point("take.changed");
            if (step.due) work_.lower_next_due(*step.due, now);
            if (work_.start() > offset) {  // it was an equal word of a later lap
                work_.change(offset, step.word, seen);
                return {};
            }
            if (work_.log_damaged()) {  // what was read decides nothing: to be left as it was
                work_.change(offset, step.word, seen);
                return {};
            }
            if (step.kind == Step::settle) return {step.took, 0, step.due};
            if (step.took_over) work_.count(work_.control().expired);
            if (step.kind == Step::end) {
                if (passed(offset)) return lose(offset, step.word);
                (void)letters_.end(offset, step.word, now);
                return {};
            }
            return receive(offset, seen, step.word, records);
        }
    }

    /// The word of a lock on the first delivery of any offset, but for its lap.
    [[nodiscard]] std::uint64_t fresh_lock(std::uint64_t now) const noexcept { return locked_word(1, 0, now + rules_.lock_ms, slot_, 0); }

    /// What nearly every record is: never seen by anybody, and without wishes of its own. Copied before it is locked, since nothing
    /// of it decides whether it may be. Answers the word of the lock; 0: nothing was done, and take() sees to it. The caller lowers
    /// next_due.
    template <class Records>
    [[nodiscard]] std::uint64_t take_fresh(std::uint64_t offset, std::uint64_t lock, Records& records) noexcept {
        const std::uint64_t seen = work_.word_of(offset);
        if (state_of(seen) != WorkState::done || work_.start() > offset || is_done(seen, offset)) return 0;
        if (!records.copy_plain(offset)) return 0;
        const std::uint64_t mine = lock | work_.lap(offset);
        M::point("fresh.seen");
        if (!work_.change(offset, seen, mine)) return 0;
        M::point("fresh.changed");
        if (work_.start() <= offset && !passed(offset) && !work_.log_damaged()) return mine;
        work_.change(offset, mine, seen);
        return 0;
    }

    [[nodiscard]] Lettering<M, Letters>& letters() noexcept { return letters_; }

private:
    struct Step {
        enum Kind : std::uint8_t {
            leave,   // it is not to be had
            settle,  // exchanged, and nothing is to be done
            lock,    // ours
            end,     // ours, to be ended
            finish,  // an announced letter to be seen to
        } kind = leave;
        std::uint64_t word = 0;
        std::optional<std::uint64_t> due = std::nullopt;
        bool took_over = false;  // from a holder whose lock ran out
        Took took = Took::nothing;
    };

    template <class Records>
    [[nodiscard]] Step next(std::uint64_t offset, std::uint64_t seen, std::uint64_t now, Records& records) noexcept {
        if (is_free(seen, work_.lap(offset))) return first_sight(offset, now, records);
        const bool gone = work_.log_start() > offset;
        switch (state_of(seen)) {
            case WorkState::ready:
                if (!gone && !late(time_of(seen), now)) return {.due = time_of(seen)};
                if (condemned(seen)) return end(offset, count_of(seen), reason_of(seen), now);
                return again(offset, seen, now, gone, LetterReason::limit, records);
            case WorkState::locked: {
                const std::uint64_t due = time_of(seen) + rules_.backoff(offset, count_of(seen));
                if (!gone && !late(due, now)) return {.due = due};
                Step step = again(offset, seen, now, gone, LetterReason::died, records);
                step.took_over = !gone;
                return step;
            }
            case WorkState::preparing:
                if (!gone && !late(preparing_until(seen), now)) return {.due = preparing_until(seen)};
                return end(offset, count_of(seen), reason_of(seen), now);
            case WorkState::intent: return intent(offset, seen, now);
            case WorkState::done: break;
        }
        return {};
    }

    /// A record that was delivered before, or that waited.
    template <class Records>
    [[nodiscard]] Step again(std::uint64_t offset, std::uint64_t seen, std::uint64_t now, bool gone, LetterReason reason,
                             Records& records) noexcept {
        if (!gone && records.peek(offset).expired) return end(offset, count_of(seen), LetterReason::expired, now);
        if (!gone && rules_.used_up(count_of(seen))) return end(offset, count_of(seen), reason, now);
        return lock(offset, rules_.next_count(count_of(seen)), tag_of(seen) + 1, now);
    }

    template <class Records>
    [[nodiscard]] Step first_sight(std::uint64_t offset, std::uint64_t now, Records& records) noexcept {
        const Peeked peeked = records.peek(offset);
        switch (peeked.found) {
            case partition_log::Found::nothing: return {};
            case partition_log::Found::skip:
                return {.kind = Step::settle, .word = done_word(offset, DoneReason::skipped)};
            case partition_log::Found::corrupt:
                return {.kind = Step::settle, .word = done_word(offset, DoneReason::skipped), .took = Took::corrupt};
            case partition_log::Found::lapped: return lock(offset, 1, 0, now);  // then found to be lost, by who locked it
            case partition_log::Found::record: break;
        }
        if (peeked.expired) return end(offset, 0, LetterReason::expired, now);
        if (peeked.delay_ms) {
            const std::uint64_t due = now + *peeked.delay_ms;
            return {.kind = Step::settle, .word = ready_word(0, 0, due, work_.lap(offset)), .due = due};
        }
        return lock(offset, 1, 0, now);
    }

    [[nodiscard]] Step lock(std::uint64_t offset, std::uint32_t count, std::uint64_t tag, std::uint64_t now) const noexcept {
        const std::uint64_t deadline = now + rules_.lock_ms;
        return {.kind = Step::lock, .word = locked_word(count, tag, deadline, slot_, work_.lap(offset)), .due = deadline};
    }
    [[nodiscard]] Step end(std::uint64_t offset, std::uint32_t count, LetterReason reason, std::uint64_t now) const noexcept {
        return {.kind = Step::end, .word = letters_.preparing(offset, count, reason, now), .due = now + kLetterLockMs};
    }

    /// An announced letter is left alone for a moment: whoever announced it is about to publish it. Of several one is watched
    /// until it is finished; else each would begin to be watched anew when another is seen, and none would ever be finished.
    [[nodiscard]] Step intent(std::uint64_t offset, std::uint64_t seen, std::uint64_t now) noexcept {
        const bool this_one = intent_.offset == offset && intent_.word == seen;
        const bool another = !this_one && intent_.word != 0 && work_.word_of(intent_.offset) == intent_.word;
        if (another) return {.due = intent_.since + kIntentPatienceMs};
        if (!this_one) intent_ = {offset, seen, now};
        const std::uint64_t due = intent_.since + kIntentPatienceMs;
        if (!late(due, now)) return {.due = due};
        return {.kind = Step::finish};
    }

    /// The record is ours, if it is still there.
    template <class Records>
    [[nodiscard]] Taken receive(std::uint64_t offset, std::uint64_t seen, std::uint64_t mine, Records& records) noexcept {
        const Received received = records.copy(offset);
        if (received == Received::full) {
            work_.change(offset, mine, seen);
            return {Took::full, 0, {}};
        }
        M::point("take.copied");
        if (passed(offset)) {
            if (received == Received::record) records.drop();
            return lose(offset, mine);
        }
        if (work_.log_damaged()) {
            if (received == Received::record) records.drop();
            work_.change(offset, mine, seen);
            return {};
        }
        if (received == Received::record) {
            if (count_of(mine) > 1) work_.count(work_.control().redelivered);
            return {Took::record, mine, {}};
        }
        work_.change(offset, mine, done_word(offset, DoneReason::skipped));
        return {Took::corrupt, 0, {}};
    }

    /// Whether retention has passed the record: then what was read of it is not to be believed.
    [[nodiscard]] bool passed(std::uint64_t offset) const noexcept {
        M::fence(std::memory_order_acquire);  // acquire LOG_START: after the reads of the record
        return work_.log_start() > offset;
    }

    /// Finishes a record that is gone and whose word is ours: exactly one worker finds that out.
    [[nodiscard]] Taken lose(std::uint64_t offset, std::uint64_t mine) noexcept {
        if (!work_.change(offset, mine, done_word(offset, DoneReason::lost))) return {};
        work_.count(work_.control().lost);
        return {Took::lost, 0, {}};
    }

    struct SeenIntent {
        std::uint64_t offset = 0;
        std::uint64_t word = 0;
        std::uint64_t since = 0;
    };

    WorkMemory<M> work_;
    WorkRules rules_;
    std::uint32_t slot_;
    Lettering<M, Letters> letters_;
    SeenIntent intent_;
};

}  // namespace ringmain::work_table
