// Times of another boot, in words that lie on a disk. The clock begins anew with each boot, so that a time of the last
// one may seem to be hours ahead.
#pragma once

#include <algorithm>
#include <cstdint>

#include "work_table/work_memory.hpp"

namespace ringmain::work_table {

/// Makes what waits since another boot available at once: how much longer it would have to wait cannot be known any
/// more. Whoever held a lock is dead, and its records return as those of any dead worker. Several may do it at once;
/// dying in here repeats it.
template <class M>
void begin_boot(const WorkMemory<M>& work, std::uint64_t boot, std::uint64_t now) noexcept {
    auto& last = work.control().boot;
    std::uint64_t seen = last.load(std::memory_order_relaxed);  // relaxed: nothing is published by it
    if (seen == boot)
        return;
    const std::uint64_t start = work.start();
    const std::uint64_t frontier = work.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
    const std::uint64_t end = std::min(frontier, start + work.window());
    for (std::uint64_t offset = start; offset < end; ++offset) {
        const std::uint64_t word = work.word_of(offset);
        if (state_of(word) != WorkState::ready || is_free(word, work.lap(offset)) || late(time_of(word), now))
            continue;
        M::point("boot.seen");
        work.change(offset, word, due_at(word, now));  // lost: to somebody of this boot
    }
    work.lower_next_due(now, now);
    last.compare_exchange_strong(seen, boot,
                                 std::memory_order_relaxed);  // relaxed: as above; lost: another one did the same
}

}  // namespace ringmain::work_table
