// Durations on the command line: digits, then ms, s, m, h or d.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ringmain::cli {

/// Nothing if it has another form, or is one that 64-bit nanoseconds cannot hold.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) noexcept;

/// In the largest unit that expresses it exactly; parse_duration reads it back.
[[nodiscard]] std::string format_duration(std::chrono::milliseconds duration);

/// The same, rounded up to a unit in which it has two or three digits; for limits that nobody reads to the second.
[[nodiscard]] std::string format_duration_up(std::chrono::milliseconds duration);

}  // namespace ringmain::cli
