// Noticing that one handle is used by two threads at once.
#pragma once

#include <atomic>

namespace ringmain {

/// A flag that is up while a call is inside. It is looked at without a locked instruction, which would cost more than the
/// rest of a publish; so two threads that enter within the same few nanoseconds can go unnoticed in release builds.
class UseFlag {
public:
    /// False: somebody is inside.
    [[nodiscard]] bool enter() noexcept {
#if defined(NDEBUG) && !defined(RINGMAIN_STRICT_USE)
        if (busy_.load(std::memory_order_relaxed)) return false;  // relaxed: a check against misuse, it orders nothing
        busy_.store(true, std::memory_order_relaxed);
        return true;
#else
        return !busy_.exchange(true, std::memory_order_acquire);  // acquire USE: the last call of another thread
#endif
    }
    void leave() noexcept { busy_.store(false, std::memory_order_release); }  // release USE

private:
    std::atomic<bool> busy_{false};
};

/// Enters for a scope.
class UseScope {
public:
    explicit UseScope(UseFlag& flag) noexcept : flag_(flag), entered_(flag.enter()) {}
    UseScope(const UseScope&) = delete;
    UseScope& operator=(const UseScope&) = delete;
    ~UseScope() {
        if (entered_) flag_.leave();
    }
    [[nodiscard]] bool entered() const noexcept { return entered_; }

private:
    UseFlag& flag_;
    bool entered_;
};

}  // namespace ringmain
