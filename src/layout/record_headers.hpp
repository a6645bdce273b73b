// The bytes of record headers inside a record's body.
//
//   entry: name_length u16 | value_length u32 (kNullHeaderValue: null) | name | value        entries follow without padding
//
// A reader may look at them while a producer overwrites them: each entry is decoded from one copy of its lengths, and
// nothing outside the given bytes is ever touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ringmain::layout {

inline constexpr std::uint32_t kNullHeaderValue = 0xffffffffU;
inline constexpr std::size_t kHeaderEntryPrefixBytes = 6;

struct HeaderEntry {
    std::uint16_t name_length = 0;
    std::uint32_t value_length = 0;

    [[nodiscard]] bool null_value() const noexcept { return value_length == kNullHeaderValue; }
    [[nodiscard]] std::uint64_t value_bytes() const noexcept { return null_value() ? 0 : value_length; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return kHeaderEntryPrefixBytes + name_length + value_bytes(); }
};

/// Decodes the entry at `from`. False if it does not fit `available` bytes.
inline bool decode_header_entry(const std::byte* from, std::size_t available, HeaderEntry& entry) noexcept {
    if (available < kHeaderEntryPrefixBytes) return false;
    std::memcpy(&entry.name_length, from, sizeof entry.name_length);
    std::memcpy(&entry.value_length, from + sizeof entry.name_length, sizeof entry.value_length);
    return entry.bytes() <= available;
}

/// Writes the entry's lengths; the name and the value follow at `to + kHeaderEntryPrefixBytes`.
inline void encode_header_entry(std::byte* to, const HeaderEntry& entry) noexcept {
    std::memcpy(to, &entry.name_length, sizeof entry.name_length);
    std::memcpy(to + sizeof entry.name_length, &entry.value_length, sizeof entry.value_length);
}

}  // namespace ringmain::layout
