// Waiting for another process without a wake-up.
#include "platform/sleep.hpp"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "platform/clock.hpp"

namespace ringmain::platform {

namespace {

/// How often cpu_relax takes a microsecond here: 1 to 200 times, by processor.
int relaxes_per_us() noexcept {
    constexpr int kProbes = 2'000;
    std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
    for (int round = 0; round < 3; ++round) {
        const std::int64_t before = monotonic_ns();
        for (int i = 0; i < kProbes; ++i) cpu_relax();
        best_ns = std::min(best_ns, monotonic_ns() - before);
    }
    return static_cast<int>(std::clamp<std::int64_t>(kProbes * std::int64_t{1000} / std::max<std::int64_t>(best_ns, 1), 1, 2'000));
}

}  // namespace

PatientSleep::PatientSleep(std::chrono::nanoseconds timeout) noexcept : deadline_ns_(deadline_after(monotonic_ns(), timeout)) {}

bool PatientSleep::again() noexcept {
    const std::int64_t left = deadline_ns_ - monotonic_ns();
    if (left <= 0) return false;
    if (rounds_++ < kSpins) {
        for (int i = 0; i < 16; ++i) cpu_relax();
        return true;
    }
    const std::int64_t nap = std::min<std::int64_t>(kSleepMaxNs, std::int64_t{10'000} * (rounds_ - kSpins));
    sleep_ns(std::min(nap, left));
    return true;
}

void pause_about_1us() noexcept {
    static const int relaxes = relaxes_per_us();
    for (int i = 0; i < relaxes; ++i) cpu_relax();
}

void yield_core() noexcept { sched_yield(); }

void sleep_ns(std::int64_t duration_ns) noexcept {
    if (duration_ns <= 0) return;
    const timespec duration{static_cast<std::time_t>(duration_ns / 1'000'000'000), static_cast<long>(duration_ns % 1'000'000'000)};
    nanosleep(&duration, nullptr);
}

}  // namespace ringmain::platform
