// How the demo's records carry their numbers: as record headers in decimal text.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "demo_source.hpp"
#include "ringmain/record.hpp"

namespace ringmain::cli::demo {

/// The headers of one outgoing record; the views live as long as this object.
class RecordNumbers {
public:
    RecordNumbers(std::uint64_t sequence, std::uint64_t row) noexcept {
        headers_[0] = {kSequenceHeader, as_bytes(print(sequence, text_[0]))};
        headers_[1] = {kRowHeader, as_bytes(print(row, text_[1]))};
        count_ = row == 0 ? 1 : 2;
    }
    RecordNumbers(const RecordNumbers&) = delete;
    RecordNumbers& operator=(const RecordNumbers&) = delete;

    [[nodiscard]] std::span<const Header> headers() const noexcept { return std::span(headers_).first(count_); }

private:
    using Text = std::array<char, 20>;  // 2^64 - 1 has 20 digits

    static std::string_view print(std::uint64_t number, Text& text) noexcept {
        const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
        return {text.data(), static_cast<std::size_t>(end - text.data())};
    }

    std::array<Text, 2> text_{};
    std::array<Header, 2> headers_{};
    std::size_t count_ = 0;
};

/// The number in a header; nothing if the header is absent or is not a number above 0.
inline std::optional<std::uint64_t> number_in(const Headers& headers, std::string_view name) noexcept {
    const std::optional<Header> header = headers.find(name);
    if (!header || !header->value)
        return std::nullopt;
    const std::string_view text = as_text(*header->value);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number == 0)
        return std::nullopt;
    return number;
}

}  // namespace ringmain::cli::demo
