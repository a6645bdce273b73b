// What the holder of a lock says of its record: one exchange from exactly the word of the lock. So a late answer is refused by
// comparison, whoever has the record by then, and one that comes after its time but before anybody else counts.
#pragma once

#include <cstdint>
#include <optional>

#include "work_table/advance.hpp"
#include "work_table/letters.hpp"
#include "work_table/work_memory.hpp"
#include "work_table/work_rules.hpp"

namespace ringmain::work_table {

enum class Answer : std::uint8_t {
    done,
    taken,            // by `slot`
    finished,         // by whoever took it, or by this holder before
    lost,             // retention took the record
    fenced,           // the group was reset or deleted
    letters_refused,  // the record stays, condemned
    invalid,          // no lock of this worker
};

struct Answered {
    Answer answer = Answer::done;
    bool ended = false;                 // done: it was the record's last delivery
    std::optional<std::uint32_t> slot = std::nullopt;  // taken: by whom
};

template <class M, class Letters>
class Settling {
public:
    Settling(const WorkMemory<M>& work, const WorkRules& rules, Letters& letters, std::uint32_t slot) noexcept
        : work_(work), rules_(rules), slot_(slot), letters_(work, rules, letters, slot) {}

    [[nodiscard]] Answered ack(std::uint64_t offset, std::uint64_t lock) noexcept {
        const Answered answered = ack_of_many(offset, lock);
        if (answered.answer != Answer::done) return answered;
        if (++acked_ % kAdvanceEvery == 0 || work_.start() == offset) advance(work_);
        return settled();
    }

    /// The same for one of a batch, which ends with end_of_many: the start is moved, and a reset is looked for, once.
    [[nodiscard]] Answered ack_of_many(std::uint64_t offset, std::uint64_t lock) noexcept {
        if (!is_mine(offset, lock)) return {Answer::invalid};
        if (!work_.change(offset, lock, done_word(offset, DoneReason::acked))) return refused(offset);
        M::point("ack.done");
        return {};
    }
    /// done, or fenced: then the whole batch was. Requires that one was done.
    [[nodiscard]] Answered end_of_many() noexcept {
        while (advance(work_)) {
        }
        return settled();
    }

    /// `delay_ms`: instead of the back-off; at most kAheadMaxMs.
    [[nodiscard]] Answered nack(std::uint64_t offset, std::uint64_t lock, std::optional<std::uint64_t> delay_ms, std::uint64_t now) noexcept {
        if (!is_mine(offset, lock)) return {Answer::invalid};
        const std::uint32_t count = count_of(lock);
        if (rules_.used_up(count)) return end(offset, lock, LetterReason::limit, now);
        const std::uint64_t due = again_at(lock, now + delay_ms.value_or(rules_.backoff(offset, count)));
        return back(offset, lock, ready_word(count, tag_of(lock), due, work_.lap(offset)), due, now);
    }

    [[nodiscard]] Answered release(std::uint64_t offset, std::uint64_t lock, std::uint64_t now) noexcept {
        if (!is_mine(offset, lock)) return {Answer::invalid};
        const std::uint32_t count = count_of(lock);
        const std::uint64_t due = again_at(lock, now);
        return back(offset, lock, ready_word(count == 0 ? 0 : count - 1, tag_of(lock), due, work_.lap(offset)), due, now);
    }

    [[nodiscard]] Answered reject(std::uint64_t offset, std::uint64_t lock, std::uint64_t now) noexcept {
        if (!is_mine(offset, lock)) return {Answer::invalid};
        return end(offset, lock, LetterReason::rejected, now);
    }

    /// `lock` becomes the new one. Requires that the worker's last deadline is as late already.
    [[nodiscard]] Answered renew(std::uint64_t offset, std::uint64_t& lock, std::uint64_t lock_ms, std::uint64_t now) noexcept {
        if (!is_mine(offset, lock)) return {Answer::invalid};
        const std::uint64_t deadline = now + lock_ms;
        const std::uint64_t renewed = locked_word(count_of(lock), tag_of(lock), deadline, slot_, work_.lap(offset));
        if (!work_.change(offset, lock, renewed)) return refused(offset);
        M::point("renew.done");
        lock = renewed;
        work_.lower_next_due(deadline, now);  // the backoff behind it is none of the hint's business: too early is right
        return settled();
    }

private:
    static constexpr std::uint32_t kAdvanceEvery = 32;

    [[nodiscard]] bool is_mine(std::uint64_t offset, std::uint64_t lock) const noexcept {
        return state_of(lock) == WorkState::locked && slot_of(lock) == slot_ && lap_bits(lock) == work_.lap(offset);
    }

    /// Behind the last tag they begin anew, and so would the words of locks, were their times not different.
    [[nodiscard]] static std::uint64_t again_at(std::uint64_t lock, std::uint64_t due) noexcept {
        return tag_of(lock) == kTagMax ? due + 1 : due;
    }

    [[nodiscard]] Answered back(std::uint64_t offset, std::uint64_t lock, std::uint64_t ready, std::uint64_t due, std::uint64_t now) noexcept {
        if (!work_.change(offset, lock, ready)) return refused(offset);
        M::point("nack.done");
        work_.lower_next_due(due, now);
        return settled();
    }

    [[nodiscard]] Answered end(std::uint64_t offset, std::uint64_t lock, LetterReason reason, std::uint64_t now) noexcept {
        const std::uint64_t mine = letters_.preparing(offset, count_of(lock), reason, now);
        if (!work_.change(offset, lock, mine)) return refused(offset);
        M::point("reject.preparing");
        work_.lower_next_due(now + kLetterLockMs, now);
        if (letters_.end(offset, mine, now) == Ended::refused) return {Answer::letters_refused, true, {}};
        if (work_.start() == offset) advance(work_);
        Answered answered = settled();
        answered.ended = true;
        return answered;
    }

    /// Done, unless the group was reset meanwhile: then it was done to a word that nobody looks at any more.
    [[nodiscard]] Answered settled() const noexcept { return {work_.current() ? Answer::done : Answer::fenced}; }

    [[nodiscard]] Answered refused(std::uint64_t offset) const noexcept {
        const std::uint64_t word = work_.word_of(offset);
        if (!work_.current()) return {Answer::fenced};
        if (is_done(word, offset)) return {done_reason(word) == DoneReason::lost ? Answer::lost : Answer::finished};
        if (work_.start() > offset || is_free(word, work_.lap(offset))) return {Answer::finished};
        if (state_of(word) == WorkState::locked) return {Answer::taken, false, slot_of(word)};
        return {Answer::taken};
    }

    WorkMemory<M> work_;
    WorkRules rules_;
    std::uint32_t slot_;
    Lettering<M, Letters> letters_;
    std::uint32_t acked_ = 0;
};

}  // namespace ringmain::work_table
