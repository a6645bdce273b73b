// Turning a ProducerRecord into the parts that go into the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "partition_log/record_parts.hpp"
#include "ringmain/record.hpp"
#include "ringmain/status.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// Bytes that the record's headers take encoded, or nothing if a name or value is over the format's limits.
[[nodiscard]] std::optional<std::uint64_t> encoded_headers_bytes(std::span<const Header> headers) noexcept;

/// Encodes headers to `to`, which has room for encoded_headers_bytes, and returns the end.
std::byte* encode_headers(std::span<const Header> headers, std::byte* to) noexcept;

/// Everything but the headers, which are at `headers` in encoded form. ok, invalid or too_large.
[[nodiscard]] inline Status take_apart(const ProducerRecord& record, const std::byte* headers, std::uint64_t headers_bytes,
                                       std::uint64_t record_bytes_max, partition_log::RecordParts& parts) noexcept {
    std::uint64_t length = 0;
    std::uint16_t flags = 0;
    if (record.value) {
        parts.value = record.value->data();
        length = record.value->size();
    } else {
        flags = layout::kNullValue;
    }
    const std::uint64_t value_bytes = length;
    std::uint64_t key_bytes = 0;
    if (record.key) {
        parts.key = record.key->data();
        key_bytes = record.key->size();
        if (key_bytes > kKeyBytesMax) return Status::too_large;
        length += key_bytes;
    } else {
        flags |= layout::kNullKey;
    }
    if (!record.headers.empty()) {
        parts.headers = headers;
        flags |= layout::kHasHeaders;
        length += headers_bytes + sizeof parts.headers_bytes;
    }
    if (value_bytes > record_bytes_max || headers_bytes > record_bytes_max || length > record_bytes_max) return Status::too_large;
    parts.value_bytes = static_cast<std::uint32_t>(value_bytes);
    parts.key_bytes = static_cast<std::uint16_t>(key_bytes);
    parts.headers_bytes = static_cast<std::uint32_t>(headers_bytes);
    parts.flags = flags;
    return Status::ok;
}

/// Writes a stamp to `to`, which has kStampBytes.
void write_stamp(std::byte* to, const ProducerStamp& stamp) noexcept;

/// Adds a stamp, which is right behind the encoded headers at `headers`, to parts that were taken apart. ok or too_large.
[[nodiscard]] Status add_stamp(const std::byte* headers, std::uint64_t record_bytes_max, partition_log::RecordParts& parts) noexcept;

}  // namespace ringmain
