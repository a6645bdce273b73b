// Strict parsing of numbers and sizes.
#include "numbers.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>

#include "errors.hpp"

namespace ringmain::cli {

namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view wanted, Range range) {
    if (range.max == UINT64_MAX) {
        throw UsageError(fmt::format("{}: '{}' is not {} of at least {}", option, text, wanted, range.min));
    }
    throw UsageError(fmt::format("{}: '{}' is not {} from {} to {}", option, text, wanted, range.min, range.max));
}

unsigned shift_of_suffix(char suffix) noexcept {
    switch (suffix) {
        case 'K':
        case 'k':
            return 10;
        case 'M':
        case 'm':
            return 20;
        case 'G':
        case 'g':
            return 30;
        default:
            return 0;
    }
}

std::optional<std::uint64_t> parse_scaled(std::string_view text) noexcept {
    const unsigned shift = text.empty() ? 0 : shift_of_suffix(text.back());
    if (shift != 0)
        text.remove_suffix(1);
    const std::optional<std::uint64_t> value = parse_digits(text);
    if (!value || *value > (UINT64_MAX >> shift))
        return std::nullopt;  // the product would wrap
    return *value << shift;
}

}  // namespace

std::optional<std::uint64_t> parse_digits(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped_at, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stopped_at != end)
        return std::nullopt;
    return value;
}

std::uint64_t parse_number(std::string_view option, std::string_view text, Range range) {
    const std::optional<std::uint64_t> value = parse_digits(text);
    if (!value || *value < range.min || *value > range.max)
        refuse(option, text, "a whole number", range);
    return *value;
}

std::uint64_t parse_size(std::string_view option, std::string_view text, Range range) {
    const std::optional<std::uint64_t> value = parse_scaled(text);
    if (!value || *value < range.min || *value > range.max)
        refuse(option, text, "a size (digits, then K, M, G or nothing)", range);
    return *value;
}

std::string format_bytes(std::uint64_t bytes) {
    struct Unit {
        std::uint64_t bytes;
        std::string_view name;
    };
    static constexpr std::array kUnits = {Unit{1ULL << 30, "GiB"}, Unit{1ULL << 20, "MiB"}, Unit{1ULL << 10, "KiB"}};
    for (const Unit& unit : kUnits) {
        if (bytes >= unit.bytes && bytes % unit.bytes == 0) {
            return fmt::format("{} ({} {})", counted(bytes, "byte"), bytes / unit.bytes, unit.name);
        }
    }
    return counted(bytes, "byte");
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace ringmain::cli
