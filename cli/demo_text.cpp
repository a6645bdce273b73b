// Numbers and times as the demo prints them.
#include "demo_text.hpp"

#include <fmt/format.h>

#include <array>

namespace ringmain::cli::demo {

namespace {

/// Three significant digits.
std::string three_digits(double number) {
    if (number >= 100)
        return fmt::format("{:.0f}", number);
    if (number >= 10)
        return fmt::format("{:.1f}", number);
    return fmt::format("{:.2f}", number);
}

}  // namespace

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t end = text.size(); end > 3; end -= 3)
        text.insert(end - 3, 1, ',');
    return text;
}

std::string duration(std::uint64_t time_ns) {
    if (time_ns < 1'000)
        return fmt::format("{} ns", time_ns);
    static constexpr std::array kUnits = {"us", "ms", "s"};
    double number = static_cast<double>(time_ns) / 1e3;
    std::size_t unit = 0;
    while (number >= 999.5 && unit + 1 < kUnits.size()) {
        number /= 1e3;
        ++unit;
    }
    return three_digits(number) + ' ' + kUnits[unit];
}

std::string rate(double per_second) {
    if (per_second < 1e3)
        return fmt::format("{:.0f}", per_second);
    if (per_second < 999'500)
        return three_digits(per_second / 1e3) + " k";
    return three_digits(per_second / 1e6) + " M";
}

std::string value(double number) { return fmt::format("{:.10g}", number); }

}  // namespace ringmain::cli::demo
