// Back-off as an option: what is legal, and how it is stored. Of queues and of groups with retries.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "layout/work.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/retry_policy.hpp"

namespace ringmain {

// As messages show values.
[[nodiscard]] inline std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}
[[nodiscard]] inline std::string number(std::chrono::milliseconds value) { return std::to_string(value.count()) + " ms"; }
[[nodiscard]] inline std::string number(std::uint64_t value) { return std::to_string(value); }

/// Calls `range(option, value, min, max)` for each of its parts, and `refuse(text)` if they do not go together.
template <class Range, class Refuse>
void check_backoff(const Backoff& backoff, const Range& range, const Refuse& refuse) {
    constexpr double kFactorMax = 100;
    constexpr double kJitterMax = 0.5;
    constexpr std::chrono::milliseconds kNone{0};
    range("backoff.max", backoff.max, kNone, kLockTimeMax);
    range("backoff.first", backoff.first, kNone, kLockTimeMax);
    if (backoff.first > backoff.max)
        refuse("cannot be: backoff.first " + number(backoff.first) + " is longer than backoff.max, the longest wait, which is " +
               number(backoff.max));
    range("backoff.factor", backoff.factor, 1.0, kFactorMax);
    range("backoff.jitter", backoff.jitter, 0.0, kJitterMax);
}

[[nodiscard]] inline std::uint64_t milliseconds_of(std::chrono::milliseconds time) noexcept { return static_cast<std::uint64_t>(time.count()); }
[[nodiscard]] inline std::chrono::milliseconds time_of(std::uint64_t ms) noexcept {
    return std::chrono::milliseconds(static_cast<std::int64_t>(ms));
}

/// Requires a legal one.
inline void store_backoff(const Backoff& backoff, layout::WorkSettings& settings) noexcept {
    const auto permille = [](double value) { return static_cast<std::uint32_t>(std::lround(value * 1000)); };
    settings.backoff_first_ms = milliseconds_of(backoff.first);
    settings.backoff_max_ms = milliseconds_of(backoff.max);
    settings.backoff_factor_permille = permille(backoff.factor);
    settings.backoff_jitter_permille = permille(backoff.jitter);
}
[[nodiscard]] inline Backoff stored_backoff(const layout::WorkSettings& settings) noexcept {
    return {time_of(settings.backoff_first_ms), time_of(settings.backoff_max_ms), settings.backoff_factor_permille / 1000.0,
            settings.backoff_jitter_permille / 1000.0};
}

}  // namespace ringmain
