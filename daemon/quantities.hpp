// Sizes and durations as people write them: strict, so that a slip is an error and never another number.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringmain::daemon {

inline constexpr std::string_view kSizeForm =
    "a size (a whole number, then B, KiB, MiB, GiB or TiB; K, M, G and T are the same)";
inline constexpr std::string_view kDurationForm = "a duration (a whole number, then ms, s, min, h or d)";

/// Nothing: it has another form, or does not fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;

/// In the largest unit that expresses it exactly.
[[nodiscard]] std::string size_to_text(std::uint64_t bytes);
[[nodiscard]] std::string duration_to_text(std::chrono::milliseconds duration);

}  // namespace ringmain::daemon
