// Letters that were announced for a dead-letter topic which is gone: their tickets say nothing any more.
#pragma once

#include <cstdint>

#include "work_table/work_memory.hpp"

namespace ringmain::work_table {

/// Makes every record whose letter is prepared or announced wait for another one. Requires that the dead-letter topic
/// it was announced for is deleted: who is stopped with a ticket of it finds its word changed, and whoever looks at
/// that topic later than at this word sees that it is gone. Anybody may, as often as wished; dying in here repeats it.
template <class M>
void forget_tickets(const WorkMemory<M>& work, std::uint64_t now) noexcept {
    M::fence(std::memory_order_seq_cst);  // release RETIRE, acquire RETIRE: that the topic is gone before the looks at
                                          // the words
    for (std::uint64_t index = 0; index < work.window(); ++index) {
        for (std::uint64_t seen = work.word_of(index);; seen = work.word_of(index)) {
            const WorkState state = state_of(seen);
            if (state != WorkState::preparing && state != WorkState::intent)
                break;
            M::point("relink.seen");
            work.change(index, seen, condemned_word(count_of(seen), now, reason_of(seen), lap_bits(seen)));
        }
    }
    work.lower_next_due(now, now);
}

}  // namespace ringmain::work_table
