// Moving the start of the window over what is finished. Anybody may, as often as wished: a finished word is finished for ever.
#pragma once

#include <cstdint>

#include "work_table/work_memory.hpp"

namespace ringmain::work_table {

/// Offsets that one call passes at most.
inline constexpr std::uint64_t kAdvanceMax = 256;

/// Passes finished offsets; true if the start moved. Whoever dies before leaves the start low, which costs nothing but room.
template <class M>
bool advance(const WorkMemory<M>& work) noexcept {
    group_table::PartitionWord place;
    if (!work.current(place)) return false;
    const std::uint64_t start = place.committed;
    std::uint64_t end = start;
    while (end < start + kAdvanceMax && end < start + work.window() && is_done(work.word_of(end), end)) ++end;
    if (end == start) return false;
    M::point("advance.seen");
    while (!work.move_start(place, end)) {  // lost: the group was let go, or another was faster
        if (place.generation != work.generation() || place.committed != start) return false;
    }
    M::point("advance.moved");
    return true;
}

/// On a log that has lost a whole window and more: passes what never had a word. Only when every offset of the window is
/// finished, since an unfinished word must not stay behind the start. Answers how many offsets were lost, counted here.
template <class M>
std::uint64_t jump(const WorkMemory<M>& work, std::uint64_t& from) noexcept {
    group_table::PartitionWord place;
    if (!work.current(place)) return 0;
    const std::uint64_t end = place.committed + work.window();
    const std::uint64_t log_start = work.log_start();
    if (log_start <= end) return 0;
    for (std::uint64_t offset = place.committed; offset < end; ++offset) {
        if (!is_done(work.word_of(offset), offset)) return 0;
    }
    if (!work.move_start(place, log_start)) return 0;
    M::point("jump.moved");
    work.count(work.control().lost, log_start - end);
    from = end;
    return log_start - end;
}

}  // namespace ringmain::work_table
