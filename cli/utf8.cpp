// UTF-8 check and base64.
#include "utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace ringmain::cli {

namespace {

/// What may follow a lead byte: how many bytes, and the range of the first of them (the others are 80..BF).
struct Sequence {
    std::size_t following = 0;
    std::uint8_t min = 0x80;
    std::uint8_t max = 0xBF;
    bool valid = true;
};

Sequence sequence_of(std::uint8_t lead) noexcept {
    if (lead < 0x80)
        return {};
    if (lead >= 0xC2 && lead <= 0xDF)
        return {.following = 1};
    if (lead == 0xE0)
        return {.following = 2, .min = 0xA0};  // below: overlong
    if (lead == 0xED)
        return {.following = 2, .max = 0x9F};  // above: surrogates
    if (lead >= 0xE1 && lead <= 0xEF)
        return {.following = 2};
    if (lead == 0xF0)
        return {.following = 3, .min = 0x90};  // below: overlong
    if (lead >= 0xF1 && lead <= 0xF3)
        return {.following = 3};
    if (lead == 0xF4)
        return {.following = 3, .max = 0x8F};  // above: beyond U+10FFFF
    return {.valid = false};
}

bool follows(std::string_view bytes, const Sequence& sequence) noexcept {
    if (bytes.size() < sequence.following)
        return false;
    for (std::size_t i = 0; i < sequence.following; ++i) {
        const auto byte = static_cast<std::uint8_t>(bytes[i]);
        if (byte < (i == 0 ? sequence.min : 0x80) || byte > (i == 0 ? sequence.max : 0xBF))
            return false;
    }
    return true;
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const Sequence sequence = sequence_of(static_cast<std::uint8_t>(bytes.front()));
        bytes.remove_prefix(1);
        if (!sequence.valid || !follows(bytes, sequence))
            return false;
        bytes.remove_prefix(sequence.following);
    }
    return true;
}

std::string to_base64(std::string_view bytes) {
    static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            group = group << 8 | (j < count ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text.push_back(j <= count ? kAlphabet[group >> (18 - 6 * j) & 0x3F] : '=');
        }
    }
    return text;
}

}  // namespace ringmain::cli
