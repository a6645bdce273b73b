// Detecting that a handle was inherited through fork().
#pragma once

#include <atomic>
#include <cstdint>

namespace ringmain::platform {

/// A word that the kernel wipes in a fork()ed child (MADV_WIPEONFORK), shared by all handles of the process.
class ForkGuard {
public:
    /// Remembers the process that constructs it.
    ForkGuard() noexcept;
    /// True in a child of the process that constructed it. One load; no system call.
    [[nodiscard]] bool forked() const noexcept {
        // relaxed: the word changes only where no other thread of this process exists yet (in the kernel's fork), and
        // afterwards from 0 to another value than mine_
        return word_->load(std::memory_order_relaxed) != mine_;
    }

private:
    const std::atomic<std::uint64_t>* word_;
    std::uint64_t mine_;
};

}  // namespace ringmain::platform
