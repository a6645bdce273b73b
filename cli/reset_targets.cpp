// Parsing of reset targets.
#include "reset_targets.hpp"

#include <fmt/core.h>

#include <optional>

#include "durations.hpp"
#include "errors.hpp"
#include "numbers.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

std::optional<ResetTarget> parse_relative(std::string_view text) {
    const bool back = text.starts_with('-');
    text.remove_prefix(1);
    const std::optional<std::uint64_t> number = parse_digits(text);
    if (number && *number <= kOffsetMax) {
        const auto by = static_cast<std::int64_t>(*number);
        return ResetTarget::shifted(back ? -by : by);
    }
    const auto duration = parse_duration(text);
    if (!back || !duration)
        return std::nullopt;
    return ResetTarget::back(*duration);
}

std::optional<ResetTarget> parse_target(std::string_view option, std::string_view text) {
    if (text == "earliest")
        return ResetTarget::earliest();
    if (text == "latest")
        return ResetTarget::latest();
    if (text.starts_with('@'))
        return ResetTarget::since(parse_time_ns(option, text.substr(1)));
    if (text.starts_with('+') || text.starts_with('-'))
        return parse_relative(text);
    const std::optional<std::uint64_t> offset = parse_digits(text);
    if (!offset || *offset > kOffsetMax)
        return std::nullopt;
    return ResetTarget::at(*offset);
}

}  // namespace

ResetTarget parse_reset_target(std::string_view option, std::string_view text) {
    if (const auto target = parse_target(option, text))
        return *target;
    throw UsageError(fmt::format("{}: '{}' is none of earliest, latest, an offset from 0 to {}, @TIME, +N, -N, and -DURATION such as -90s, -10m, -2h or -1d",
                                 option, text, kOffsetMax));
}

}  // namespace ringmain::cli
