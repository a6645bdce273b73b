// A record taken apart, as it goes into the log and as it comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "layout/partition.hpp"
#include "layout/record_headers.hpp"

namespace ringmain::partition_log {

/// Where a body is: its byte position in the payload area, or in the record's cell.
using Location = std::uint64_t;
inline constexpr Location kInCell = ~Location{0};

/// What a producer writes: pieces of private memory that make up the body value | key | headers | stamp | headers_bytes.
struct RecordParts {
    const std::byte* value = nullptr;
    const std::byte* key = nullptr;
    const std::byte* headers = nullptr;  // encoded entries, and with kHasStamp the stamp right behind them
    std::uint32_t value_bytes = 0;
    std::uint32_t headers_bytes = 0;
    std::uint16_t key_bytes = 0;
    std::uint16_t flags = 0;  // layout::CellFlag without kInExtent
    std::int64_t timestamp_ns = 0;

    [[nodiscard]] std::uint64_t length() const noexcept {
        return std::uint64_t{value_bytes} + key_bytes + trailer_bytes();
    }
    [[nodiscard]] std::uint64_t trailer_bytes() const noexcept {
        if ((flags & layout::kHasTrailer) == 0) [[likely]] return 0;
        return headers_bytes + stamp_bytes(flags) + ((flags & layout::kHasHeaders) != 0 ? sizeof headers_bytes : 0);
    }
    [[nodiscard]] static constexpr std::uint64_t stamp_bytes(std::uint16_t flags) noexcept {
        return (flags & layout::kHasStamp) != 0 ? layout::kStampBytes : 0;
    }
};

[[nodiscard]] constexpr std::uint64_t pack_shape(std::uint32_t length, std::uint16_t key_bytes, std::uint16_t flags) noexcept {
    return std::uint64_t{length} | std::uint64_t{key_bytes} << 32 | std::uint64_t{flags} << 48;
}

/// Headers, stamp and the headers' length, behind value and key. The parts come as values, so that callers can keep them in
/// registers.
template <class M>
[[gnu::noinline]] void write_trailer(std::byte* to, const std::byte* headers, std::uint32_t bytes, std::uint16_t flags) noexcept {
    const std::uint64_t with_stamp = bytes + RecordParts::stamp_bytes(flags);
    M::copy_in(to, headers, with_stamp);
    if ((flags & layout::kHasHeaders) != 0) M::copy_in(to + with_stamp, &bytes, sizeof bytes);
}

/// The body behind the value.
template <class M>
[[gnu::always_inline]] inline void write_tail(std::byte* to, const RecordParts& parts) noexcept {
    if (parts.key_bytes != 0) M::copy_in(to, parts.key, parts.key_bytes);
    if ((parts.flags & layout::kHasTrailer) != 0) [[unlikely]] {
        write_trailer<M>(to + parts.key_bytes, parts.headers, parts.headers_bytes, parts.flags);
    }
}

template <class M>
[[gnu::always_inline]] inline void write_body(std::byte* to, const RecordParts& parts) noexcept {
    if (parts.value_bytes != 0) M::copy_in(to, parts.value, parts.value_bytes);
    write_tail<M>(to + parts.value_bytes, parts);
}

/// What a reader found: lengths that have been checked against each other, and the body's bytes.
struct RecordView {
    const std::byte* body = nullptr;
    std::uint32_t length = 0;
    std::uint32_t value_bytes = 0;
    std::uint32_t headers_bytes = 0;
    std::uint16_t key_bytes = 0;
    std::uint16_t flags = 0;
    std::int64_t timestamp_ns = 0;

    [[nodiscard]] bool null_key() const noexcept { return (flags & layout::kNullKey) != 0; }
    [[nodiscard]] bool null_value() const noexcept { return (flags & layout::kNullValue) != 0; }
    [[nodiscard]] const std::byte* key() const noexcept { return body + value_bytes; }
    [[nodiscard]] const std::byte* headers() const noexcept { return body + value_bytes + key_bytes; }
};

/// What is behind a body's value and key. `bytes` negative if that cannot be.
struct Trailer {
    std::int64_t bytes = -1;
    std::uint32_t headers_bytes = 0;
};
template <class M>
[[nodiscard, gnu::noinline]] Trailer trailer_of(const std::byte* body, std::uint64_t length, std::uint16_t flags) noexcept {
    std::uint32_t headers_bytes = 0;
    std::uint64_t bytes = RecordParts::stamp_bytes(flags);
    if ((flags & layout::kHasHeaders) != 0) {
        bytes += sizeof headers_bytes;
        if (length < bytes) return {};
        M::copy_out(&headers_bytes, body + length - sizeof headers_bytes, sizeof headers_bytes);  // read once
        bytes += headers_bytes;
    }
    if (bytes > length) return {};
    return {static_cast<std::int64_t>(bytes), headers_bytes};
}

/// Splits a body of `view.length` bytes. False if the lengths contradict each other.
template <class M>
[[nodiscard, gnu::always_inline]] inline bool split_body(RecordView& view) noexcept {
    if ((view.flags & ~layout::kCellFlagsAll) != 0) return false;
    std::uint64_t rest = view.length;
    view.headers_bytes = 0;
    if ((view.flags & layout::kHasTrailer) != 0) [[unlikely]] {
        const Trailer trailer = trailer_of<M>(view.body, rest, view.flags);
        if (trailer.bytes < 0) return false;
        view.headers_bytes = trailer.headers_bytes;
        rest -= static_cast<std::uint64_t>(trailer.bytes);
    }
    if (view.key_bytes > rest) return false;
    view.value_bytes = static_cast<std::uint32_t>(rest - view.key_bytes);
    if (view.null_key() && view.key_bytes != 0) return false;
    return !(view.null_value() && view.value_bytes != 0);
}

/// The number of headers in a private copy, or -1 if the entries do not fill it exactly.
[[nodiscard]] inline std::int64_t count_headers(const std::byte* headers, std::uint32_t bytes) noexcept {
    std::int64_t count = 0;
    while (bytes != 0) {
        layout::HeaderEntry entry;
        if (!layout::decode_header_entry(headers, bytes, entry)) return -1;
        headers += entry.bytes();
        bytes -= static_cast<std::uint32_t>(entry.bytes());
        ++count;
    }
    return count;
}

}  // namespace ringmain::partition_log
