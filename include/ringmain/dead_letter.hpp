// A dead letter: a record that could not be handled, with where it came from and why it is here, as headers.
//
// Value, key and headers of a letter are those of the record, byte by byte; the letter's own headers come behind them.
// The letter's timestamp is the moment at which it was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringmain/export.hpp"
#include "ringmain/record.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// The headers that make a record a letter. Their values are text: numbers are decimal, the topic's id has 32 hex
/// digits. A record that comes with headers of this prefix loses them when it becomes a letter.
inline constexpr std::string_view kDeadLetterHeaderPrefix = "ringmain-dlq-";
inline constexpr std::string_view kDeadLetterTopic = "ringmain-dlq-topic";
inline constexpr std::string_view kDeadLetterTopicId = "ringmain-dlq-topic-id";
inline constexpr std::string_view kDeadLetterPartition = "ringmain-dlq-partition";
inline constexpr std::string_view kDeadLetterOffset = "ringmain-dlq-offset";
inline constexpr std::string_view kDeadLetterTimestamp = "ringmain-dlq-timestamp-ns";  ///< Absent: the record was lost.
inline constexpr std::string_view kDeadLetterAttempts = "ringmain-dlq-attempts";
inline constexpr std::string_view kDeadLetterGroup = "ringmain-dlq-group";
inline constexpr std::string_view kDeadLetterReason = "ringmain-dlq-reason";
inline constexpr std::string_view kDeadLetterFirstError = "ringmain-dlq-first-error";  ///< Absent: not known.
inline constexpr std::string_view kDeadLetterLastError = "ringmain-dlq-last-error";    ///< Absent: not known.
inline constexpr std::string_view kDeadLetterValueLost =
    "ringmain-dlq-value-lost";  ///< Only of letters without their record.

/// Longer texts of errors are cut, at the end of a character.
inline constexpr std::size_t kDeadLetterErrorBytesMax = 1'024;

/// Why a record was not delivered any more.
enum class DeadLetterReason : std::uint8_t {
    limit,        ///< Its last delivery failed.
    rejected,     ///< Whoever had it said that it can never be handled.
    expired,      ///< Its time to live was over.
    worker_died,  ///< Its last delivery was never answered: the lock ran out, or the process died.
};
/// "limit", "rejected", "expired", "worker-died", as the header has it.
RINGMAIN_API std::string_view to_string(DeadLetterReason reason) noexcept;

/// What a letter's headers say. The views live as long as the record that was decoded.
struct DeadLetter {
    std::string_view topic;       ///< The topic of the record,
    TopicId topic_id{};           ///< which topic of that name,
    std::uint32_t partition = 0;  ///< and where in it the record was.
    std::uint64_t offset = 0;
    std::optional<std::int64_t> timestamp_ns;  ///< Of the record; nothing: it was lost.
    std::uint32_t attempts = 0;                ///< Deliveries, 0 if it expired before the first.
    std::string_view group;                    ///< The queue or group that could not handle it.
    DeadLetterReason reason = DeadLetterReason::limit;
    std::string_view first_error;  ///< Empty: not known.
    std::string_view last_error;   ///< Empty: not known.
    bool value_lost = false;       ///< Retention took the record before it was copied: key and value are null.
};

struct DecodedLetter {
    std::optional<DeadLetter> letter;
    std::string problem;  ///< Without a letter: which header is missing, or what is wrong with it.
};

/// Decodes the headers of a record of a dead-letter topic. Whatever they are is good input: anybody may publish there.
[[nodiscard]] RINGMAIN_API DecodedLetter decode_dead_letter(const ConsumerRecord& record);

}  // namespace ringmain
