// How far a group is behind in a partition.
#pragma once

#include <cstdint>

#include "group_table/groups_memory.hpp"

namespace ringmain::group_table {

struct Lag {
    std::uint64_t committed = 0;
    bool touched = false;       // false: nobody has committed yet, and `committed` is where the group begins
    std::uint64_t log_start = 0;
    std::uint64_t log_end = 0;
    std::uint64_t records = 0;  // still to be read
    std::uint64_t lost = 0;     // not committed, and no longer there
};

/// `control`: the partition's. Read in this order, neither number can be negative: what is committed was in the log, and
/// the log's start is never beyond its end.
template <class M>
[[nodiscard]] Lag lag_of(const GroupsMemory<M>& groups, std::uint32_t group, std::uint32_t partition,
                         const layout::PartitionControl<M>& control) noexcept {
    const PartitionWord word = groups.word(group, partition);
    Lag lag{word.committed, word.touched};
    lag.log_start = control.log_start.load(std::memory_order_acquire);  // acquire LOG_START
    lag.log_end = control.log_end.load(std::memory_order_acquire);      // acquire TICKET
    const std::uint64_t next = lag.committed > lag.log_start ? lag.committed : lag.log_start;
    lag.records = lag.log_end > next ? lag.log_end - next : 0;  // 0 also for words that nobody would write
    lag.lost = lag.log_start > lag.committed ? lag.log_start - lag.committed : 0;
    return lag;
}

}  // namespace ringmain::group_table
