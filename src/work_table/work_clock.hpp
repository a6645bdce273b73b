// The clock of locks and delays: milliseconds modulo 2^33 (99 days), compared so that it may wrap.
#pragma once

#include <cstdint>

namespace ringmain::work_table {

inline constexpr std::uint64_t kClockMask = (std::uint64_t{1} << 33) - 1;
/// No lock, back-off or delay is longer. A time further ahead than a lock and the back-off behind it counts as past; a minute
/// is for those who read the clock a little before others.
inline constexpr std::uint64_t kAheadMaxMs = 12 * 60 * 60 * 1000;
inline constexpr std::uint64_t kFutureMs = 2 * kAheadMaxMs + 60 * 1000;

/// Whether time `x` has come. Times beyond kFutureMs ahead have, too: nothing waits for ever on a word of garbage.
[[nodiscard]] constexpr bool late(std::uint64_t x, std::uint64_t now) noexcept { return ((now - x) & kClockMask) < kClockMask + 1 - kFutureMs; }

/// How long until `x`; 0 if it has come.
[[nodiscard]] constexpr std::uint64_t until(std::uint64_t x, std::uint64_t now) noexcept { return late(x, now) ? 0 : (x - now) & kClockMask; }

/// Whether `a` comes before `b`, both looked at from `now`.
[[nodiscard]] constexpr bool earlier(std::uint64_t a, std::uint64_t b, std::uint64_t now) noexcept { return until(a, now) < until(b, now); }

}  // namespace ringmain::work_table
