// Numbers and times as the demo prints them.
#pragma once

#include <cstdint>
#include <string>

namespace ringmain::cli::demo {

/// "1,234,567"
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "870 ns", "12.3 us", "4.56 ms", "1.20 s"
[[nodiscard]] std::string duration(std::uint64_t time_ns);
/// "870", "12.3 k", "4.56 M" per second
[[nodiscard]] std::string rate(double per_second);
/// A measured value in few digits: "370", "0.25", "1.23e+12"
[[nodiscard]] std::string value(double number);

}  // namespace ringmain::cli::demo
