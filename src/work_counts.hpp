// The counts of a partition's words, as they are described to people.
#pragma once

#include "layout/work.hpp"
#include "platform/memory.hpp"

namespace ringmain {

/// What queues and groups with retries count alike. All relaxed: statistics.
template <class Description>
void read_work_counts(const layout::WorkControl<platform::HostMemory>& control, Description& description) noexcept {
    description.returned = control.returned.load(std::memory_order_relaxed);
    description.redelivered = control.redelivered.load(std::memory_order_relaxed);
    description.dead_lettered = control.dead_lettered.load(std::memory_order_relaxed);
    description.skipped = control.skipped.load(std::memory_order_relaxed);
    description.lost = control.lost.load(std::memory_order_relaxed);
    description.letters_refused = control.letters_refused.load(std::memory_order_relaxed);
}

}  // namespace ringmain
