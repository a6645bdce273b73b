// The clocks.
#pragma once

#include <chrono>
#include <cstdint>

namespace ringmain::platform {

/// Nanoseconds since the Unix epoch.
std::int64_t realtime_ns() noexcept;
/// The same with the resolution of a kernel tick, several times cheaper.
std::int64_t realtime_coarse_ns() noexcept;
/// Nanoseconds, never going back, any origin.
std::int64_t monotonic_ns() noexcept;

/// Nanoseconds since the machine was booted, never going back, suspended time included.
std::int64_t boottime_ns() noexcept;

/// Milliseconds of the machine's monotonic clock, with the resolution of a kernel tick; the same in every time
/// namespace, so that processes of different containers may compare them.
std::uint64_t shared_monotonic_ms() noexcept;
/// A hash of the boot that shared_monotonic_ms() counts from. Never 0; read once per process.
std::uint64_t shared_boot_hash() noexcept;

/// A hash of what boottime_ns() counts from: the boot, and the time namespace. Never 0; read once per process.
std::uint64_t boot_hash() noexcept;

/// `now_ns` + `timeout`, as far as 64 bits reach; a negative timeout is none.
std::int64_t deadline_after(std::int64_t now_ns, std::chrono::nanoseconds timeout) noexcept;

/// The processor's time counter: the cheapest clock, for "about how long" only.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return static_cast<std::uint64_t>(monotonic_ns());
#endif
}

/// How many ticks pass in a microsecond, at least 1; measured once per process.
std::uint64_t ticks_per_us() noexcept;

/// Tells the processor that this is a spin loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

}  // namespace ringmain::platform
