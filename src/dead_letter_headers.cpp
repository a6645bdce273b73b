// The headers that a dead letter has beside those of its record.
#include "dead_letter_headers.hpp"

#include <string>

#include "record_encoding.hpp"

namespace ringmain {

namespace {

void append(std::vector<std::byte>& headers, std::string_view name, std::string_view value) {
    const Header header{name, as_bytes(value)};
    const std::size_t before = headers.size();
    const auto bytes = encoded_headers_bytes(std::span(&header, 1));
    headers.resize(before + bytes.value_or(0));
    encode_headers(std::span(&header, 1), headers.data() + before);
}

template <class Number>
void append_number(std::vector<std::byte>& headers, std::string_view name, Number number) {
    append(headers, name, std::to_string(number));
}

bool continues_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

}  // namespace

std::string_view cut_error_text(std::string_view text) noexcept {
    if (text.size() <= kDeadLetterErrorBytesMax)
        return text;
    std::size_t end = kDeadLetterErrorBytesMax;
    constexpr std::size_t kContinuationsMax = 3;  // more are not UTF-8, and cut anywhere
    for (std::size_t back = 0; back <= kContinuationsMax; ++back) {
        if (!continues_character(text[end - back]))
            return text.substr(0, end - back);
    }
    return text.substr(0, end);
}

void append_letter_headers(std::vector<std::byte>& headers, const DeadLetter& letter, std::string_view lost) {
    append(headers, kDeadLetterTopic, letter.topic);
    append(headers, kDeadLetterTopicId, to_string(letter.topic_id));
    append_number(headers, kDeadLetterPartition, letter.partition);
    append_number(headers, kDeadLetterOffset, letter.offset);
    if (letter.timestamp_ns)
        append_number(headers, kDeadLetterTimestamp, *letter.timestamp_ns);
    append_number(headers, kDeadLetterAttempts, letter.attempts);
    append(headers, kDeadLetterGroup, letter.group);
    append(headers, kDeadLetterReason, to_string(letter.reason));
    if (!letter.first_error.empty())
        append(headers, kDeadLetterFirstError, cut_error_text(letter.first_error));
    if (!letter.last_error.empty())
        append(headers, kDeadLetterLastError, cut_error_text(letter.last_error));
    if (!lost.empty())
        append(headers, kDeadLetterValueLost, lost);
}

void append_other_headers(std::vector<std::byte>& headers, Bytes encoded) {
    layout::HeaderEntry entry;
    while (layout::decode_header_entry(encoded.data(), encoded.size(), entry)) {
        const Bytes whole = encoded.first(static_cast<std::size_t>(entry.bytes()));
        const std::string_view name = as_text(whole.subspan(layout::kHeaderEntryPrefixBytes, entry.name_length));
        if (!name.starts_with(kDeadLetterHeaderPrefix))
            headers.insert(headers.end(), whole.begin(), whole.end());
        encoded = encoded.subspan(whole.size());
    }
}

}  // namespace ringmain
