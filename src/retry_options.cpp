// What is decided about the retries of a group.
#include "retry_options.hpp"

#include <chrono>
#include <cstdint>

#include "backoff_options.hpp"
#include "dead_letter_topic.hpp"
#include "error_about.hpp"
#include "ringmain/queue.hpp"
#include "work_settings.hpp"

namespace ringmain {

namespace {

[[noreturn]] void refuse(const std::string& object, const std::string& what) {
    throw error_about(ErrorCode::invalid_argument, object, what);
}

template <class Value>
void check_range(const std::string& object, const char* option, Value value, Value min, Value max) {
    if (value >= min && value <= max)
        return;  // no number is within a range
    refuse(object, std::string("cannot be retried: ") + option + " " + number(value) + " is outside " + number(min) +
                       " to " + number(max));
}

void check_letters(const std::string& object, std::string_view topic, const RetryOptions& options) {
    if (options.exhausted != Exhausted::dead_letter) {
        if (options.dead_letter_topic.empty())
            return;
        refuse(object, "cannot be retried: dead_letter_topic '" + options.dead_letter_topic +
                           "' is named, and nothing goes there: exhausted is " +
                           std::string(to_string(options.exhausted)));
    }
    if (dead_letter_topic_name(topic, options.dead_letter_topic) == topic)
        refuse(object, "cannot be retried: its dead letters would go to topic '" + std::string(topic) + "' itself");
}

}  // namespace

std::string_view to_string(RetryOrder order) noexcept {
    switch (order) {
        case RetryOrder::partition:
            return "partition";
        case RetryOrder::key:
            return "key";
        case RetryOrder::none:
            return "none";
    }
    return "unknown";
}

void check_retry_options(std::string_view topic, const GroupOptions& group, const RetryOptions& options) {
    using namespace std::chrono_literals;
    const std::string object = group_text(group.name, topic);
    if (group.delivery != Delivery::at_least_once) {
        refuse(object, "cannot be retried with delivery " + std::string(to_string(group.delivery)) +
                           ": a record is finished when its handler has succeeded, which is at_least_once");
    }
    check_range<std::uint64_t>(object, "attempts", options.attempts, 1, kRetryAttemptsMax);
    check_backoff(
        options.backoff,
        [&](const char* option, auto value, auto min, auto max) { check_range(object, option, value, min, max); },
        [&](const std::string& what) { refuse(object, what); });
    check_range<std::uint64_t>(object, "waiting_max", options.waiting_max, 1, kRetryWaitingMax);
    if (options.exhausted > Exhausted::stop)
        refuse(object, "cannot be retried: exhausted is none of dead_letter, skip and stop");
    if (options.order > RetryOrder::none)
        refuse(object, "cannot be retried: order is none of partition, key and none");
    if (options.patience < 1us || options.patience > 1s)
        refuse(object, "cannot be read: patience of " + std::to_string(options.patience.count()) +
                           " ns is outside 1000..1000000000");
    check_letters(object, topic, options);
}

layout::WorkSettings work_settings_of(const RetryOptions& options) noexcept {
    layout::WorkSettings settings{};
    settings.kind = kWorkOfStream;
    store_backoff(options.backoff, settings);
    settings.delivery_limit = options.attempts;
    settings.exhausted = static_cast<std::uint32_t>(options.exhausted);
    settings.expired = static_cast<std::uint32_t>(Exhausted::skip);  // no record of a stream expires
    return settings;
}

RetryOptions with_settings(const RetryOptions& options, const layout::WorkSettings& settings) {
    RetryOptions decided = options;
    decided.attempts = settings.delivery_limit;
    decided.backoff = stored_backoff(settings);
    decided.exhausted = static_cast<Exhausted>(settings.exhausted);
    decided.dead_letter_topic = letters_name(settings);
    return decided;
}

void check_same_retries(std::string_view topic, std::string_view group, const layout::WorkSettings& found,
                        const RetryOptions& wanted) {
    const auto differ = [&](const char* option, const std::string& has, const std::string& wants) {
        if (has == wants)
            return;
        throw error_about(ErrorCode::mismatch, group_text(group, topic),
                          std::string("is retried with ") + option + " " + has + ", not " + wants +
                              "; its first runner has decided that");
    };
    const RetryOptions has = with_settings(wanted, found);
    const RetryOptions wants = with_settings(wanted, work_settings_of(wanted));  // as it would have been stored
    differ("attempts", number(std::uint64_t{has.attempts}), number(std::uint64_t{wants.attempts}));
    differ("backoff.first", number(has.backoff.first), number(wants.backoff.first));
    differ("backoff.max", number(has.backoff.max), number(wants.backoff.max));
    differ("backoff.factor", number(has.backoff.factor), number(wants.backoff.factor));
    differ("backoff.jitter", number(has.backoff.jitter), number(wants.backoff.jitter));
    differ("exhausted", std::string(to_string(has.exhausted)), std::string(to_string(wants.exhausted)));
    if (wants.exhausted == Exhausted::dead_letter)
        differ("dead_letter_topic", "'" + has.dead_letter_topic + "'",
               "'" + dead_letter_topic_name(topic, wanted.dead_letter_topic) + "'");
}

}  // namespace ringmain
