// Reading letters, and publishing them once more.
#include "orders_letters.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "orders_labels.hpp"
#include "ringmain/dead_letter.hpp"
#include "ringmain/dead_letters.hpp"

namespace ringmain::cli::orders {

namespace {

constexpr std::size_t kPollRecords = 64;

/// What is wrong with the one letter that the story expects; empty: nothing.
std::string fault_of(const ConsumerRecord& record, const DecodedLetter& decoded, const TopicId& origin) {
    if (!decoded.letter)
        return decoded.problem;
    const DeadLetter& letter = *decoded.letter;
    if (letter.topic != kLabels || letter.topic_id != origin || letter.group != kQueue || letter.value_lost)
        return fmt::format("a letter of queue '{}' of topic '{}'", letter.group, letter.topic);
    if (letter.reason != DeadLetterReason::limit || letter.attempts != kDeliveryLimit)
        return fmt::format("a letter after {} attempts, because of {}", letter.attempts, to_string(letter.reason));
    const std::string_view key = text_or(record.key, "");
    if (order_named(key) != kPoisonOrder || text_or(record.value, "") != kUnknownTown)
        return fmt::format("a letter of {} to {}", key, text_or(record.value, "-"));
    return {};
}

}  // namespace

LetterBox::LetterBox(const Broker& broker, LettersPanel& panel)
    : broker_(broker), panel_(panel), origin_(broker.describe_topic(kLabels).id), consumer_(broker) {
    consumer_.assign(kLetters, Position::earliest());
}

void LetterBox::look() {
    for (;;) {
        const PollResult result = consumer_.poll(kPollRecords);
        if (result.status != Status::ok)
            throw std::runtime_error(fmt::format("poll of {}: {}", kLetters, to_string(result.status)));
        if (result.records.empty())
            return;
        for (const ConsumerRecord& record : result.records)
            read(record);
    }
}

void LetterBox::read(const ConsumerRecord& record) {
    const DecodedLetter decoded = decode_dead_letter(record);
    if (const std::string fault = fault_of(record, decoded, origin_); !fault.empty()) {
        demo::set_text(panel_.fault, fault);
        panel_.strange.fetch_add(1, std::memory_order_relaxed);
    } else {
        panel_.attempts.store(decoded.letter->attempts, std::memory_order_relaxed);
        demo::set_text(panel_.last_error, decoded.letter->last_error);
    }
    panel_.letters.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t LetterBox::replay() {
    const LettersReplayed done = DeadLetters(broker_).replay(kLetters, {.topic = kLabels});
    if (!done.why.empty())
        throw std::runtime_error(fmt::format("replay to {}: {}", kLabels, done.why));
    return done.replayed;
}

}  // namespace ringmain::cli::orders
