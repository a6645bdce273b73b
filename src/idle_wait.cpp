// How a consumer passes the time while there is nothing to read.
#include "idle_wait.hpp"

#include "platform/clock.hpp"
#include "platform/sleep.hpp"

namespace ringmain {

IdleWait::IdleWait(WaitStrategy strategy, std::chrono::nanoseconds timeout) noexcept
    : strategy_(strategy), now_ns_(platform::monotonic_ns()), deadline_ns_(platform::deadline_after(now_ns_, timeout)) {}

IdleWait::Next IdleWait::next() noexcept {
    ++looks_;
    if (strategy_ != WaitStrategy::spin) platform::pause_about_1us();
    if (strategy_ == WaitStrategy::yield) platform::yield_core();
    const bool sleep = strategy_ == WaitStrategy::block && looks_ > kPausesBeforeSleep;
    if (!sleep && looks_ % kClockEvery != 0) return Next::look;
    now_ns_ = platform::monotonic_ns();
    if (left_ns() <= 0) return Next::stop;
    return sleep ? Next::sleep : Next::look;
}

}  // namespace ringmain
