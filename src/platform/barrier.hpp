// The asymmetric fence: the side that sleeps pays a membarrier system call, so that the side that publishes pays
// nothing.
//
// A producer commits and then looks for sleepers; a consumer announces itself and then looks at the log. Each needs its
// store before its load. membarrier(GLOBAL_EXPEDITED) on the consumer's side is a full fence in every running thread of
// every registered process.
#pragma once

namespace ringmain::platform {

/// Registers this process (once) so that others' barriers reach it. False: the kernel refuses, and the publishing side
/// has to use a full fence of its own.
bool register_for_barriers() noexcept;

/// A full fence in this thread and in all threads of registered processes. False: the kernel refuses; only this thread
/// was fenced, and the caller must keep its sleeps short.
bool barrier_everywhere() noexcept;

}  // namespace ringmain::platform
