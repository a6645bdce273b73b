// The headers that a dead letter has beside those of its record: how they are written, and how long they can be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "layout/record_headers.hpp"
#include "ringmain/dead_letter.hpp"
#include "ringmain/group.hpp"

namespace ringmain {

namespace detail {

struct LetterHeader {
    std::string_view name;
    std::size_t value_bytes_max;
};

// 20 bytes hold every number; "worker-died" is the longest reason, "overwritten" the longest word for a loss
inline constexpr std::array kLetterHeaders = {
    LetterHeader{kDeadLetterTopic, kTopicNameMax},
    LetterHeader{kDeadLetterTopicId, 2 * sizeof(TopicId)},
    LetterHeader{kDeadLetterPartition, 20},
    LetterHeader{kDeadLetterOffset, 20},
    LetterHeader{kDeadLetterTimestamp, 20},
    LetterHeader{kDeadLetterAttempts, 20},
    LetterHeader{kDeadLetterGroup, kGroupNameBytesMax},
    LetterHeader{kDeadLetterReason, 11},
    LetterHeader{kDeadLetterFirstError, kDeadLetterErrorBytesMax},
    LetterHeader{kDeadLetterLastError, kDeadLetterErrorBytesMax},
    LetterHeader{kDeadLetterValueLost, 11},
};

[[nodiscard]] constexpr std::uint64_t letter_bytes_max() noexcept {
    std::uint64_t bytes = sizeof(std::uint32_t);  // the headers' length, which a record without any does not have
    for (const LetterHeader& header : kLetterHeaders)
        bytes += layout::kHeaderEntryPrefixBytes + header.name.size() + header.value_bytes_max;
    return bytes;
}

}  // namespace detail

/// By so much a letter can be larger than its record.
inline constexpr std::uint64_t kLetterHeadersBytesMax = detail::letter_bytes_max();

/// The text, or its beginning if it is longer than kDeadLetterErrorBytesMax: cut at the end of a character of UTF-8, as
/// far as it is UTF-8.
[[nodiscard]] std::string_view cut_error_text(std::string_view text) noexcept;

/// Appends the letter's own headers, encoded. Texts of errors are cut. `lost`: in a word, why there is no record;
/// empty: it is there.
void append_letter_headers(std::vector<std::byte>& headers, const DeadLetter& letter, std::string_view lost);

/// Appends the entries of encoded headers but for those with the prefix of letters. Requires entries that fill
/// `encoded` exactly.
void append_other_headers(std::vector<std::byte>& headers, Bytes encoded);

}  // namespace ringmain
