// Encoding record headers (src/layout/record_headers.hpp).
#include "record_encoding.hpp"

#include <cstring>

#include "layout/record_headers.hpp"

namespace ringmain {

namespace {

constexpr std::size_t kHeaderNameMax = 65'535;

layout::HeaderEntry entry_for(const Header& header) noexcept {
    return {static_cast<std::uint16_t>(header.name.size()),
            header.value ? static_cast<std::uint32_t>(header.value->size()) : layout::kNullHeaderValue};
}

}  // namespace

std::optional<std::uint64_t> encoded_headers_bytes(std::span<const Header> headers) noexcept {
    std::uint64_t bytes = 0;
    for (const Header& header : headers) {
        if (header.name.size() > kHeaderNameMax) return std::nullopt;
        if (header.value && header.value->size() >= layout::kNullHeaderValue) return std::nullopt;
        bytes += entry_for(header).bytes();
    }
    return bytes;
}

std::byte* encode_headers(std::span<const Header> headers, std::byte* to) noexcept {
    for (const Header& header : headers) {
        const layout::HeaderEntry entry = entry_for(header);
        layout::encode_header_entry(to, entry);
        std::byte* name = to + layout::kHeaderEntryPrefixBytes;
        if (!header.name.empty()) std::memcpy(name, header.name.data(), header.name.size());
        if (entry.value_bytes() != 0) std::memcpy(name + entry.name_length, header.value->data(), header.value->size());
        to += entry.bytes();
    }
    return to;
}

void write_stamp(std::byte* to, const ProducerStamp& stamp) noexcept {
    std::memcpy(to, &stamp.producer, sizeof stamp.producer);
    std::memcpy(to + sizeof stamp.producer, &stamp.sequence, sizeof stamp.sequence);
}

Status add_stamp(const std::byte* headers, std::uint64_t record_bytes_max, partition_log::RecordParts& parts) noexcept {
    parts.headers = headers;
    parts.flags |= layout::kHasStamp;
    return parts.length() <= record_bytes_max ? Status::ok : Status::too_large;
}

}  // namespace ringmain
