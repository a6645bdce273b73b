// Numbers and sizes on the command line: strict, so that a slip is an error and never another number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringmain::cli {

/// Decimal digits and nothing else; nothing if there is anything else or it does not fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_digits(std::string_view text) noexcept;

/// The bounds of an option's value, both inclusive.
struct Range {
    std::uint64_t min = 0;
    std::uint64_t max = UINT64_MAX;
};

/// A whole number in a range. Throws UsageError naming option, value and range.
[[nodiscard]] std::uint64_t parse_number(std::string_view option, std::string_view text, Range range);

/// As parse_number, with an optional suffix K, M or G (times 1024, 1024^2, 1024^3).
[[nodiscard]] std::uint64_t parse_size(std::string_view option, std::string_view text, Range range);

/// "1000 bytes", or "16777216 bytes (16 MiB)" if a binary unit expresses it exactly.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// "1 record", "2 records".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace ringmain::cli
