// Records as producers give them and as consumers get them. Null and empty are different and stay so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "ringmain/export.hpp"

namespace ringmain {

using Bytes = std::span<const std::byte>;
/// `std::nullopt` is null; an empty span is empty.
using OptionalBytes = std::optional<Bytes>;

/// The bytes of a text, without a terminator.
inline Bytes as_bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// A text view of bytes; no check of the encoding.
inline std::string_view as_text(Bytes bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The same of bytes that may be null.
inline std::string_view text_or(const OptionalBytes& bytes, std::string_view if_null) noexcept {
    return bytes ? as_text(*bytes) : if_null;
}

/// One record header. Names may repeat; their order is kept. Name at most 65,535 bytes.
struct Header {
    std::string_view name;
    OptionalBytes value;
};

/// What a named producer adds to its records.
struct ProducerStamp {
    std::uint64_t producer = 0;  ///< producer_id of its name.
    std::uint64_t sequence = 0;
    friend bool operator==(const ProducerStamp&, const ProducerStamp&) = default;
};
/// The number by which records name their producer: FNV-1a of the name, never 0.
RINGMAIN_API std::uint64_t producer_id(std::string_view name) noexcept;

/// The headers of a record, decoded while they are walked. Valid as long as the record they came with.
class RINGMAIN_API Headers {
public:
    Headers() = default;
    /// `encoded` must have been checked by the reader (`count` entries that fill it exactly).
    /// `stamped`: a stamp is right behind them.
    Headers(Bytes encoded, std::uint32_t count, bool stamped = false) noexcept
        : encoded_(encoded), count_(count), stamped_(stamped) {}

    class RINGMAIN_API iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Header;
        using difference_type = std::ptrdiff_t;
        using pointer = const Header*;
        using reference = const Header&;

        iterator() = default;
        explicit iterator(Bytes rest) noexcept : rest_(rest) { decode(); }
        reference operator*() const noexcept { return header_; }
        pointer operator->() const noexcept { return &header_; }
        iterator& operator++() noexcept {
            rest_ = rest_.subspan(entry_bytes_);
            decode();
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.rest_.size() == b.rest_.size(); }

    private:
        void decode() noexcept;
        Bytes rest_;
        Header header_;
        std::size_t entry_bytes_ = 0;
    };

    [[nodiscard]] iterator begin() const noexcept { return iterator(encoded_); }
    [[nodiscard]] iterator end() const noexcept { return {}; }
    [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// The first header of that name, or nothing.
    [[nodiscard]] std::optional<Header> find(std::string_view name) const noexcept;

private:
    friend struct ConsumerRecord;
    [[nodiscard]] std::optional<ProducerStamp> stamp() const noexcept;

    Bytes encoded_;
    std::uint32_t count_ = 0;
    std::uint32_t stamped_ = 0;
};

/// What a producer gives. The views need to live for the call only.
struct ProducerRecord {
    OptionalBytes value = std::nullopt;
    OptionalBytes key = std::nullopt;
    std::span<const Header> headers = {};
    /// Explicit partition; otherwise murmur2 of the key, or for a null key round-robin (a named producer: sequence modulo the
    /// number of partitions, so that a record that is published again goes to the same one).
    std::optional<std::uint32_t> partition = std::nullopt;
    /// Nanoseconds since the Unix epoch; otherwise the producer's clock.
    std::optional<std::int64_t> timestamp_ns = std::nullopt;
    /// Named producers: the caller's own number of the record, 1 or more and growing in each partition, such as the offset of what
    /// it was made from + 1. 0: none.
    std::uint64_t sequence = 0;
};

/// What a consumer gets. The views live until the consumer's next poll, visit, assign or destruction.
struct ConsumerRecord {
    std::string_view topic;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;
    std::int64_t timestamp_ns = 0;
    OptionalBytes key;
    OptionalBytes value;
    Headers headers;

    /// Name and sequence, if a named producer published the record.
    [[nodiscard]] std::optional<ProducerStamp> stamp() const noexcept { return headers.stamp(); }
};

/// Why offsets were passed without being delivered.
enum class GapReason : std::uint8_t {
    overwritten,  ///< The log start moved past the reader (overwrite policy or retention).
    corrupt,      ///< The bytes at the offset contradict the layout.
};
RINGMAIN_API std::string_view to_string(GapReason reason) noexcept;

/// Loss is an event with numbers: the offsets [from, to) will never be delivered to this reader.
struct Gap {
    std::string_view topic;
    std::uint32_t partition = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    GapReason reason = GapReason::overwritten;
    [[nodiscard]] std::uint64_t count() const noexcept { return to - from; }
};

}  // namespace ringmain
