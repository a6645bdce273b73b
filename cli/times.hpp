// Points in time on the command line and in its output: milliseconds since the epoch, or ISO 8601.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringmain::cli {

/// Nanoseconds since the Unix epoch of
///   1767323045123                     milliseconds since the epoch, possibly negative
///   2026-01-02                        midnight in the local time zone
///   2026-01-02T03:04[:05[.123456789]] local time ('T' may be 't' or a space; a comma may stand for the point)
///   … followed by Z, +01:00, +0100 or +01
/// Throws UsageError naming the option and the text: for any other form, a day that does not exist, a local time that
/// the time zone skips, and a time that 64-bit nanoseconds cannot hold (years 1678 to 2261 always fit).
[[nodiscard]] std::int64_t parse_time_ns(std::string_view option, std::string_view text);

/// E.g. "2026-01-02T03:04:05.123456789Z"; parse_time_ns reads it back unchanged.
[[nodiscard]] std::string format_time_ns(std::int64_t time_ns);

/// Whole milliseconds, rounded down also before the epoch.
[[nodiscard]] std::int64_t floor_milliseconds(std::int64_t time_ns) noexcept;

}  // namespace ringmain::cli
