// The clock of the benchmarks: the processor's own counter, which both cores share, and its scale to nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace ringmain::bench {

/// A reading of the counter, ordered after the loads before it.
inline std::uint64_t ticks_now() noexcept {
#if defined(__x86_64__)
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return static_cast<std::uint64_t>(high) << 32 | low;
#elif defined(__aarch64__)
    std::uint64_t value = 0;
    asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
    return value;
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Tells the core that this is a waiting loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" : : : "memory");
#endif
}

/// Nanoseconds per tick, measured once per program against the monotonic clock; children inherit it through fork().
inline double tick_ns() {
    static const double scale = [] {
        using Clock = std::chrono::steady_clock;
        const auto clock_from = Clock::now();
        const std::uint64_t ticks_from = ticks_now();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const auto clock_to = Clock::now();
        const std::uint64_t ticks_to = ticks_now();
        const std::chrono::duration<double, std::nano> elapsed = clock_to - clock_from;
        return elapsed.count() / static_cast<double>(ticks_to - ticks_from);
    }();
    return scale;
}

inline double ticks_to_ns(std::uint64_t ticks) { return static_cast<double>(ticks) * tick_ns(); }
inline double ticks_to_s(std::uint64_t ticks) { return ticks_to_ns(ticks) * 1e-9; }
inline std::uint64_t ns_to_ticks(double ns) { return static_cast<std::uint64_t>(ns / tick_ns()); }

}  // namespace ringmain::bench
