// What is decided about the retries of a group.
#include "retry_options.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "dead_letter_topic.hpp"
#include "error_about.hpp"
#include "ringmain/queue.hpp"
#include "work_settings.hpp"

namespace ringmain {

namespace {

using std::chrono::milliseconds;

constexpr double kPermille = 1000;
constexpr double kFactorMax = 100;
constexpr double kJitterMax = 0.5;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}
std::string number(milliseconds value) { return std::to_string(value.count()) + " ms"; }
std::string number(std::uint64_t value) { return std::to_string(value); }

std::string group_text(std::string_view topic, std::string_view group) {
    return "group '" + std::string(group) + "' of topic '" + std::string(topic) + "'";
}

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

std::uint32_t permille(double value) noexcept { return static_cast<std::uint32_t>(std::lround(value * kPermille)); }
std::uint64_t milliseconds_of(milliseconds time) noexcept { return static_cast<std::uint64_t>(time.count()); }
milliseconds time_of(std::uint64_t ms) noexcept { return milliseconds(static_cast<std::int64_t>(ms)); }

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
    const std::string object = group_text(topic, group.name);
    if (group.delivery != Delivery::at_least_once) {
        refuse(object, "cannot be retried with delivery " + std::string(to_string(group.delivery)) +
                           ": a record is finished when its handler has succeeded, which is at_least_once");
    }
    check_range<std::uint64_t>(object, "attempts", options.attempts, 1, kRetryAttemptsMax);
    check_range(object, "backoff.max", options.backoff.max, 0ms, kLockTimeMax);
    check_range(object, "backoff.first", options.backoff.first, 0ms, options.backoff.max);
    check_range(object, "backoff.factor", options.backoff.factor, 1.0, kFactorMax);
    check_range(object, "backoff.jitter", options.backoff.jitter, 0.0, kJitterMax);
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
    settings.backoff_first_ms = milliseconds_of(options.backoff.first);
    settings.backoff_max_ms = milliseconds_of(options.backoff.max);
    settings.backoff_factor_permille = permille(options.backoff.factor);
    settings.backoff_jitter_permille = permille(options.backoff.jitter);
    settings.delivery_limit = options.attempts;
    settings.exhausted = static_cast<std::uint32_t>(options.exhausted);
    settings.expired = static_cast<std::uint32_t>(Exhausted::skip);  // no record of a stream expires
    return settings;
}

RetryOptions with_settings(const RetryOptions& options, const layout::WorkSettings& settings) {
    RetryOptions decided = options;
    decided.attempts = settings.delivery_limit;
    decided.backoff = {time_of(settings.backoff_first_ms), time_of(settings.backoff_max_ms),
                       settings.backoff_factor_permille / kPermille, settings.backoff_jitter_permille / kPermille};
    decided.exhausted = static_cast<Exhausted>(settings.exhausted);
    decided.dead_letter_topic = letters_name(settings);
    return decided;
}

void check_same_retries(std::string_view topic, std::string_view group, const layout::WorkSettings& found,
                        const RetryOptions& wanted) {
    const auto differ = [&](const char* option, const std::string& has, const std::string& wants) {
        if (has == wants)
            return;
        throw error_about(ErrorCode::mismatch, group_text(topic, group),
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
