// Sizes and durations as people write them.
#include "quantities.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace ringmain::daemon {

namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array kSizeUnits = {
    Unit{"TiB", 1ULL << 40}, Unit{"GiB", 1ULL << 30}, Unit{"MiB", 1ULL << 20}, Unit{"KiB", 1ULL << 10}, Unit{"B", 1},
    Unit{"T", 1ULL << 40},   Unit{"G", 1ULL << 30},   Unit{"M", 1ULL << 20},   Unit{"K", 1ULL << 10},
};
constexpr std::array kDurationUnits = {
    Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"min", 60'000}, Unit{"s", 1'000}, Unit{"ms", 1},
};
constexpr std::size_t kSizeNames = 5;  // those that are printed

std::optional<std::uint64_t> parse(std::string_view text, std::span<const Unit> units) noexcept {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc{})
        return std::nullopt;
    std::string_view unit(after, static_cast<std::size_t>(end - after));
    if (unit.starts_with(' '))
        unit.remove_prefix(1);
    for (const Unit& one : units) {
        if (unit == one.name && number <= std::numeric_limits<std::uint64_t>::max() / one.factor)
            return number * one.factor;
    }
    return std::nullopt;
}

std::string to_text(std::uint64_t number, std::span<const Unit> units, std::string_view smallest) {
    for (const Unit& unit : units) {
        if (number >= unit.factor && number % unit.factor == 0)
            return fmt::format("{} {}", number / unit.factor, unit.name);
    }
    return fmt::format("{} {}", number, smallest);
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept { return parse(text, kSizeUnits); }

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
    const auto ms = parse(text, kDurationUnits);
    if (!ms || *ms > static_cast<std::uint64_t>(std::chrono::milliseconds::max().count()))
        return std::nullopt;
    return std::chrono::milliseconds(*ms);
}

std::string size_to_text(std::uint64_t bytes) { return to_text(bytes, std::span(kSizeUnits).first(kSizeNames), "B"); }

std::string duration_to_text(std::chrono::milliseconds duration) {
    return to_text(static_cast<std::uint64_t>(duration.count()), kDurationUnits, "ms");
}

}  // namespace ringmain::daemon
