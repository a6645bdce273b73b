// Figures for people who look at a screen: short, with three significant digits and a unit.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringmain::cli {

/// "0 B", "1023 B", "1.00 KiB", "16.0 MiB".
[[nodiscard]] std::string short_bytes(std::uint64_t bytes);
/// "999", "1.23k", "45.6M".
[[nodiscard]] std::string short_count(std::uint64_t count);
/// "0.5/s", "1.23k/s".
[[nodiscard]] std::string short_rate(double per_second);
/// "250 ms", "3 s", "2 min", "5 h", "3 d": the largest unit of which there are at least two.
[[nodiscard]] std::string short_time(std::chrono::milliseconds time);
/// How long before `now_ns`, as short_time; "-" for 0, "0 ms" for the future.
[[nodiscard]] std::string age_of(std::int64_t then_ns, std::int64_t now_ns);

}  // namespace ringmain::cli
