// Taking back what a dead worker held. Anybody with the proof may, several at once, and die in it: the next one repeats it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "work_table/work_memory.hpp"
#include "work_table/work_rules.hpp"

namespace ringmain::work_table {

/// Makes the records that the slot's holder has in this partition available again, after the back-off: they count as
/// delivered, since they may be what killed it. `still_its()`: the slot's owner is still the one that is proven dead; asked
/// before each exchange, because a new holder's words look alike. Answers how many there were.
template <class M, class StillIts>
std::uint64_t return_records(const WorkMemory<M>& work, const WorkRules& rules, std::uint32_t slot, const StillIts& still_its,
                             std::uint64_t now) noexcept {
    std::uint64_t returned = 0;
    const std::uint64_t start = work.start();
    const std::uint64_t frontier = work.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
    const std::uint64_t end = std::min(frontier, start + work.window());
    for (std::uint64_t offset = start; offset < end; ++offset) {
        const std::uint64_t word = work.word_of(offset);
        const WorkState state = state_of(word);
        if (state != WorkState::locked && state != WorkState::preparing) continue;
        if (slot_of(word) != slot || is_free(word, work.lap(offset))) continue;
        if (!still_its()) return returned;
        M::point("reap.seen");
        const std::uint32_t count = count_of(word);
        const std::uint64_t due = state == WorkState::locked ? now + rules.backoff(offset, count) : now;
        const std::uint64_t ready =
            state == WorkState::preparing ? condemned_word(count, due, reason_of(word), work.lap(offset))
            : rules.used_up(count)        ? condemned_word(count, due, LetterReason::died, work.lap(offset))
                                          : ready_word(count, tag_of(word), due, work.lap(offset));
        if (!work.change(offset, word, ready)) continue;  // lost: its time was over, and somebody took it
        M::point("reap.returned");
        work.lower_next_due(due, now);
        if (state == WorkState::locked) ++returned;
    }
    if (returned != 0) work.count(work.control().returned, returned);
    return returned;
}

}  // namespace ringmain::work_table
