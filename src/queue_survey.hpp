// What the words of a queue's partition say at one moment: how many records are in which state, and who has them.
#pragma once

#include <array>
#include <cstdint>

#include "layout/work.hpp"
#include "platform/memory.hpp"
#include "ringmain/queue_admin.hpp"
#include "work_table/work_memory.hpp"

namespace ringmain {

/// Records that are acquired, by the slot of their worker.
using HeldByWorker = std::array<std::uint64_t, layout::kWorkersMax>;

/// Fills all of `partition` but its lag's figures (whose `lost` becomes exact: unfinished offsets that are no longer there).
/// Walks the offsets that were handed out and are not known to be finished; adds to `held`. Reads only, and believes nothing.
void survey(const work_table::WorkMemory<platform::HostMemory>& work, std::uint64_t now_ms, QueuePartitionDescription& partition,
            HeldByWorker& held) noexcept;

}  // namespace ringmain
