// Values that say which record they are of, and prove that they are whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "ringmain/record.hpp"

namespace ringmain::nemesis {

inline constexpr std::size_t kValueBytesMin = 32;

/// {id, length, sum}, then bytes that follow from the id. The sum is over everything else.
inline std::uint64_t sum_of(std::span<const std::byte> value) noexcept {
    std::uint64_t sum = 14695981039346656037ULL;
    for (std::size_t at = 0; at < value.size(); at += 8) {
        if (at == 16)
            continue;
        std::uint64_t word = 0;
        std::memcpy(&word, value.data() + at, value.size() - at < 8 ? value.size() - at : 8);
        sum = (sum ^ word) * 1099511628211ULL;
        sum ^= sum >> 29;
    }
    return sum;
}

/// Requires at least kValueBytesMin bytes.
inline void stamp_value(std::span<std::byte> value, std::uint64_t id) noexcept {
    std::uint64_t word = id * 0x9e3779b97f4a7c15ULL;
    for (std::size_t at = 24; at < value.size(); at += 8) {
        std::memcpy(value.data() + at, &word, value.size() - at < 8 ? value.size() - at : 8);
        word = word * 6364136223846793005ULL + 1442695040888963407ULL;
    }
    const std::uint64_t head[2] = {id, value.size()};
    std::memcpy(value.data(), head, sizeof head);
    const std::uint64_t sum = sum_of(value);
    std::memcpy(value.data() + sizeof head, &sum, sizeof sum);
}

/// The id of a whole value; nothing if it is not whole.
inline std::optional<std::uint64_t> open_value(const OptionalBytes& value) noexcept {
    if (!value || value->size() < kValueBytesMin)
        return std::nullopt;
    std::uint64_t head[3];
    std::memcpy(head, value->data(), sizeof head);
    if (head[1] != value->size() || head[2] != sum_of(*value))
        return std::nullopt;
    return head[0];
}

}  // namespace ringmain::nemesis
