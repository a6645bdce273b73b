// Durations on the command line: digits, then ms, s, m, h or d.
#include "durations.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdint>

#include "numbers.hpp"

namespace ringmain::cli {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t ns;

    [[nodiscard]] constexpr std::int64_t ms() const noexcept { return ns / 1'000'000; }
};

/// The longer name first: "ms" also ends in "s".
constexpr std::array kUnits = {Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000}, Unit{"m", 60'000'000'000},
                               Unit{"h", 3'600'000'000'000}, Unit{"d", 86'400'000'000'000}};

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) noexcept {
    for (const Unit& unit : kUnits) {
        if (!text.ends_with(unit.name))
            continue;
        const auto count = parse_digits(text.substr(0, text.size() - unit.name.size()));
        if (!count || *count > static_cast<std::uint64_t>(INT64_MAX / unit.ns))
            return std::nullopt;
        return std::chrono::nanoseconds(static_cast<std::int64_t>(*count) * unit.ns);
    }
    return std::nullopt;
}

std::string format_duration(std::chrono::milliseconds duration) {
    const Unit* chosen = &kUnits.front();
    for (const Unit& unit : kUnits) {
        if (duration.count() != 0 && duration.count() % unit.ms() == 0)
            chosen = &unit;
    }
    return fmt::format("{}{}", duration.count() / chosen->ms(), chosen->name);
}

std::string format_duration_up(std::chrono::milliseconds duration) {
    constexpr std::int64_t kLeast = 10;
    const Unit* chosen = &kUnits.front();
    for (const Unit& unit : kUnits) {
        if (duration.count() >= kLeast * unit.ms())
            chosen = &unit;
    }
    const std::int64_t rounded = (duration.count() + chosen->ms() - 1) / chosen->ms() * chosen->ms();
    return format_duration(std::chrono::milliseconds(rounded));
}

}  // namespace ringmain::cli
