// Waiting for another process without a wake-up: short at first, longer as time goes by, never beyond a deadline.
#pragma once

#include <chrono>
#include <cstdint>

namespace ringmain::platform {

class PatientSleep {
public:
    /// `timeout` may be nanoseconds::max(): no deadline.
    explicit PatientSleep(std::chrono::nanoseconds timeout) noexcept;

    /// Spins, yields or sleeps up to 1 ms. False: the deadline has passed.
    [[nodiscard]] bool again() noexcept;
    /// The sleeps have become long enough for work of a microsecond beside them.
    [[nodiscard]] bool is_long() const noexcept { return rounds_ > kSpins; }

private:
    static constexpr std::uint32_t kSpins = 64;
    static constexpr std::int64_t kSleepMaxNs = 1'000'000;

    std::int64_t deadline_ns_;
    std::uint32_t rounds_ = 0;
};

/// Busy for about a microsecond, without touching memory; calibrated once per process.
void pause_about_1us() noexcept;

/// Lets another thread have the core.
void yield_core() noexcept;

/// Sleeps; a signal may end it early.
void sleep_ns(std::int64_t duration_ns) noexcept;

}  // namespace ringmain::platform
