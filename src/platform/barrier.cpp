// The asymmetric fence, by membarrier(2).
#include "platform/barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace ringmain::platform {

namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

// No memory of having registered is kept: the kernel remembers and answers a second call at once, and a memory of our
// own would be wrong in a fork()ed child.
bool register_for_barriers() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED); }

bool barrier_everywhere() noexcept {
    // seq_cst: this thread's own store -> load; the kernel does the same to the other threads, if it can
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace ringmain::platform
