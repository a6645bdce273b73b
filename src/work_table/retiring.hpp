// What a reset leaves of the words of before it: nothing that its late workers could still act from.
//
// The table's word is moved first. Who prepares a letter looks at it behind its own exchange, before it takes a ticket: so it
// sees the reset and writes none, or its word is seen here and taken from it, and a ticket that it has named is closed.
#pragma once

#include <cstdint>

#include "partition_log/tickets.hpp"
#include "work_table/work_memory.hpp"

namespace ringmain::work_table {

/// Takes every unfinished word of `old`, whose generation the table does not name any more, from its holder. Then no letter is
/// written any more about a record that the queue may deliver again, and no late answer changes anything. `letters` as in
/// letters.hpp. Anybody may, as often as wished; whoever dies in it leaves the rest to be done again. Answers how many there were.
template <class M, class Letters>
std::uint64_t retire(const WorkMemory<M>& old, Letters& letters) noexcept {
    M::fence(std::memory_order_seq_cst);  // release RETIRE, acquire RETIRE: the table's word before the looks at the old ones
    std::uint64_t retired = 0;
    for (std::uint64_t index = 0; index < old.window(); ++index) {
        for (std::uint64_t seen = old.word_of(index); state_of(seen) != WorkState::done; seen = old.word_of(index)) {
            if (state_of(seen) == WorkState::intent && letters.usable()) (void)letters.close(ticket_of(seen));
            M::point("retire.seen");
            if (!old.change(index, seen, 0)) continue;  // lost: to its holder, who went on
            ++retired;
            break;
        }
    }
    return retired;
}

}  // namespace ringmain::work_table
