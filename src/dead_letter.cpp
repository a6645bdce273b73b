// Decoding the headers of a dead letter. Every byte of them is input.
#include "ringmain/dead_letter.hpp"

#include <array>
#include <charconv>
#include <limits>

#include "ringmain/group.hpp"
#include "topic_name.hpp"

namespace ringmain {

namespace {

constexpr std::size_t kShownBytesMax = 80;

// A value may hold anything; the message must not.
std::string shown(std::string_view value) {
    std::string text;
    for (const char c : value.substr(0, kShownBytesMax))
        text += c >= ' ' && c <= '~' ? c : '?';
    return value.size() > kShownBytesMax ? text + "..." : text;
}

std::optional<DeadLetterReason> reason_of(std::string_view text) noexcept {
    for (const auto reason : {DeadLetterReason::limit, DeadLetterReason::rejected, DeadLetterReason::expired,
                              DeadLetterReason::worker_died}) {
        if (to_string(reason) == text)
            return reason;
    }
    return std::nullopt;
}

bool parse_id(std::string_view text, TopicId& id) noexcept {
    if (text.size() != 2 * id.size())
        return false;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const char* const from = text.data() + 2 * i;
        const auto [end, error] = std::from_chars(from, from + 2, id[i], 16);
        if (error != std::errc() || end != from + 2)
            return false;
    }
    return true;
}

// Takes headers one by one; the first that is wrong is remembered.
class HeaderReader {
public:
    explicit HeaderReader(const Headers& headers) noexcept : headers_(headers) {}

    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
    [[nodiscard]] bool has(std::string_view name) const noexcept { return headers_.find(name).has_value(); }

    [[nodiscard]] std::string_view text(std::string_view name, std::size_t bytes_max) {
        const auto header = headers_.find(name);
        if (!header)
            return refuse("has no header '" + std::string(name) + "'");
        if (!header->value)
            return refuse("has a header '" + std::string(name) + "' without a value");
        const std::string_view value = as_text(*header->value);
        if (value.size() > bytes_max) {
            return refuse("has a header '" + std::string(name) + "' of " + std::to_string(value.size()) +
                          " bytes; the longest has " + std::to_string(bytes_max));
        }
        return value;
    }

    [[nodiscard]] std::string_view optional_text(std::string_view name, std::size_t bytes_max) {
        return has(name) ? text(name, bytes_max) : std::string_view();
    }

    template <class Number>
    [[nodiscard]] Number number(std::string_view name, Number max = std::numeric_limits<Number>::max()) {
        constexpr std::size_t kDigitsMax = 20;
        const std::string_view value = text(name, kDigitsMax);
        Number number{};
        const char* const end = value.data() + value.size();
        const auto [stop, error] = std::from_chars(value.data(), end, number);
        if (error == std::errc() && stop == end && number <= max)
            return number;
        wrong(name, value, "a number up to " + std::to_string(max));
        return {};
    }

    void wrong(std::string_view name, std::string_view value, const std::string& wanted) {
        (void)refuse("has a header '" + std::string(name) + "' that is '" + shown(value) + "', not " + wanted);
    }

private:
    std::string_view refuse(std::string what) {
        if (problem_.empty())
            problem_ = std::move(what);
        return {};
    }

    const Headers& headers_;
    std::string problem_;
};

void read_origin(HeaderReader& from, DeadLetter& letter) {
    letter.topic = from.text(kDeadLetterTopic, kTopicNameMax);
    if (from.problem().empty() && !is_topic_name(letter.topic))
        from.wrong(kDeadLetterTopic, letter.topic, "a topic's name");
    constexpr std::size_t kIdDigits = 32;
    const std::string_view id = from.text(kDeadLetterTopicId, kIdDigits);
    if (!parse_id(id, letter.topic_id))
        from.wrong(kDeadLetterTopicId, id, "32 hexadecimal digits");
    letter.partition = from.number<std::uint32_t>(kDeadLetterPartition, kPartitionsMax - 1);
    letter.offset = from.number<std::uint64_t>(kDeadLetterOffset, kOffsetMax);
    if (from.has(kDeadLetterTimestamp))
        letter.timestamp_ns = from.number<std::int64_t>(kDeadLetterTimestamp);
}

void read_failure(HeaderReader& from, DeadLetter& letter) {
    letter.attempts = from.number<std::uint32_t>(kDeadLetterAttempts);
    letter.group = from.text(kDeadLetterGroup, kGroupNameBytesMax);
    const std::string_view reason = from.text(kDeadLetterReason, kDeadLetterErrorBytesMax);
    if (const auto known = reason_of(reason)) {
        letter.reason = *known;
    } else {
        from.wrong(kDeadLetterReason, reason, "limit, rejected, expired or worker-died");
    }
    letter.first_error = from.optional_text(kDeadLetterFirstError, kDeadLetterErrorBytesMax);
    letter.last_error = from.optional_text(kDeadLetterLastError, kDeadLetterErrorBytesMax);
    letter.value_lost = from.has(kDeadLetterValueLost);
}

}  // namespace

std::string_view to_string(DeadLetterReason reason) noexcept {
    switch (reason) {
        case DeadLetterReason::limit:
            return "limit";
        case DeadLetterReason::rejected:
            return "rejected";
        case DeadLetterReason::expired:
            return "expired";
        case DeadLetterReason::worker_died:
            return "worker-died";
    }
    return "unknown";
}

DecodedLetter decode_dead_letter(const ConsumerRecord& record) {
    HeaderReader from(record.headers);
    DeadLetter letter;
    read_origin(from, letter);
    read_failure(from, letter);
    if (!from.problem().empty())
        return {std::nullopt, from.problem()};
    return {letter, {}};
}

}  // namespace ringmain
