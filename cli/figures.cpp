// Figures for people who look at a screen.
#include "figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ringmain::cli {

namespace {

std::string three_digits(double number) {
    if (number >= 99.95)
        return fmt::format("{:.0f}", number);
    if (number >= 9.995)
        return fmt::format("{:.1f}", number);
    return fmt::format("{:.2f}", number);
}

/// `number` in the largest unit of which there is at least one.
template <std::size_t Count>
std::string scaled(double number, double step, const std::array<std::string_view, Count>& units) {
    std::size_t unit = 0;
    while (number >= step - 0.5 && unit + 1 < units.size()) {
        number /= step;
        ++unit;
    }
    return three_digits(number).append(units[unit]);
}

constexpr std::array<std::string_view, 7> kCountUnits = {"", "k", "M", "G", "T", "P", "E"};

}  // namespace

std::string short_bytes(std::uint64_t bytes) {
    static constexpr std::array<std::string_view, 6> kUnits = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    if (bytes < 1024)
        return fmt::format("{} B", bytes);
    return scaled(static_cast<double>(bytes) / 1024, 1024, kUnits);
}

std::string short_count(std::uint64_t count) {
    if (count < 1000)
        return std::to_string(count);
    return scaled(static_cast<double>(count), 1000, kCountUnits);
}

std::string short_rate(double per_second) {
    if (per_second <= 0)
        return "0/s";
    if (per_second < 10)
        return fmt::format("{:.1f}/s", per_second);
    return scaled(per_second, 1000, kCountUnits).append("/s");
}

std::string short_time(std::chrono::milliseconds time) {
    struct Unit {
        std::int64_t ms;
        const char* name;
    };
    static constexpr std::array kUnits = {Unit{86'400'000, "d"}, Unit{3'600'000, "h"}, Unit{60'000, "min"},
                                          Unit{1'000, "s"}};
    for (const Unit& unit : kUnits) {
        if (time.count() >= 2 * unit.ms)
            return fmt::format("{} {}", time.count() / unit.ms, unit.name);
    }
    return fmt::format("{} ms", time.count());
}

std::string age_of(std::int64_t then_ns, std::int64_t now_ns) {
    if (then_ns == 0)
        return "-";
    return short_time(
        std::chrono::milliseconds(std::max<std::int64_t>(now_ns - std::min(now_ns, then_ns), 0) / 1'000'000));
}

}  // namespace ringmain::cli
