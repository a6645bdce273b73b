// The clocks.
#include "platform/clock.hpp"

#include <ctime>

namespace ringmain::platform {

namespace {

// These clocks exist on every Linux, so that the call cannot fail.
std::int64_t read_clock(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t realtime_ns() noexcept { return read_clock(CLOCK_REALTIME); }
std::int64_t realtime_coarse_ns() noexcept { return read_clock(CLOCK_REALTIME_COARSE); }
std::int64_t monotonic_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }

}  // namespace ringmain::platform
