// The clocks.
#pragma once

#include <cstdint>

namespace ringmain::platform {

/// Nanoseconds since the Unix epoch.
std::int64_t realtime_ns() noexcept;
/// The same with the resolution of a kernel tick, several times cheaper.
std::int64_t realtime_coarse_ns() noexcept;
/// Nanoseconds, never going back, any origin.
std::int64_t monotonic_ns() noexcept;

/// Tells the processor that this is a spin loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

}  // namespace ringmain::platform
