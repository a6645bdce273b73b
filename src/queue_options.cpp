// What is decided about a queue when it is created: what is legal, and how it is stored.
#include "queue_options.hpp"

#include "backoff_options.hpp"
#include "dead_letter_topic.hpp"
#include "error_about.hpp"
#include "group_options_check.hpp"
#include "ringmain/dead_letters.hpp"
#include "work_settings.hpp"

namespace ringmain {

namespace {

using std::chrono::milliseconds;

/// Checks the options of one queue.
class Checker {
public:
    Checker(std::string_view topic, std::string_view queue) : topic_(topic), queue_(queue) {}

    [[noreturn]] void refuse(const std::string& what) const {
        throw error_about(ErrorCode::invalid_argument, queue_text(topic_, queue_), what);
    }

    template <class Value>
    void range(const char* option, Value value, Value min, Value max) const {
        if (value >= min && value <= max)  // no number is within a range
            return;
        refuse(std::string("cannot be: ") + option + " " + number(value) + " is outside " + number(min) + " to " + number(max));
    }

    void start(const Position& start) const {
        if (start.kind == Position::Kind::last || start.kind == Position::Kind::committed)
            refuse("cannot be: the start of a queue is earliest, latest, an offset or a time");
        if (start.kind == Position::Kind::offset)
            range<std::uint64_t>("start offset", start.value, 0, kOffsetMax);
    }

    void exhausted(const char* option, Exhausted what) const {
        if (what == Exhausted::dead_letter || what == Exhausted::skip)
            return;
        refuse(std::string("cannot be: ") + option + " is '" + std::string(to_string(what)) +
               "', and a queue's records go to the dead letters or are skipped");
    }

    void window(const TopicOptions& topic, std::uint64_t window) const {
        if (is_window(topic, window))
            return;
        refuse("cannot be: window " + std::to_string(window) + " is neither 0 nor a power of two up to " +
               std::to_string(window_max(topic)) + ", which is what the topic holds");
    }

    /// The dead-letter topic that is meant.
    [[nodiscard]] std::string letters(const QueueOptions& options) const {
        const bool used = options.exhausted == Exhausted::dead_letter || options.expired == Exhausted::dead_letter;
        const std::string& name = options.dead_letter_topic;
        if (!used && !name.empty())
            refuse("cannot be: dead_letter_topic '" + name + "' is named, and nothing goes there: exhausted and expired are skip");
        if (!used)
            return {};
        std::string letters = dead_letter_topic_name(topic_, name);
        check_topic_name(letters);
        if (letters == topic_)
            refuse("cannot be: its dead letters would go to topic '" + letters + "' itself");
        return letters;
    }

private:
    std::string_view topic_;
    std::string_view queue_;
};

std::string text_of(const Position& start) {
    switch (start.kind) {
        case Position::Kind::latest: return "latest";
        case Position::Kind::offset: return "offset " + std::to_string(start.value);
        case Position::Kind::time: return "time " + std::to_string(start.time_ns) + " ns";
        default: return "earliest";
    }
}

void differ(std::string_view topic, std::string_view queue, const char* option, const std::string& found, const std::string& wanted) {
    if (found == wanted)
        return;
    throw error_about(ErrorCode::mismatch, queue_text(topic, queue), std::string("exists with ") + option + " " + found + ", not " + wanted);
}

}  // namespace

std::string queue_text(std::string_view topic, std::string_view queue) {
    return "queue '" + std::string(queue) + "' of topic '" + std::string(topic) + "'";
}

QueueOptions checked_queue_options(std::string_view topic, std::string_view queue, const TopicOptions& topic_options,
                                   const QueueOptions& options) {
    const Checker check(topic, queue);
    if (queue.empty() || queue.size() > kGroupNameBytesMax)
        check.refuse("cannot be: a name has 1 to " + std::to_string(kGroupNameBytesMax) + " bytes, this one " + std::to_string(queue.size()));
    if (queue == kDeadLettersGroup)
        check.refuse(kReservedGroupText);
    if (options.gating && topic_options.when_full != WhenFull::block)
        check.refuse("cannot gate: the topic overwrites when full; only topics created with `block` can be gated");
    check.start(options.start);
    check.range("lock_time", options.lock_time, kLockTimeMin, kLockTimeMax);
    check.range<std::uint64_t>("delivery_limit", options.delivery_limit, 0, kDeliveryLimitMax);
    check_backoff(
        options.backoff, [&](const char* option, auto value, auto min, auto max) { check.range(option, value, min, max); },
        [&](const std::string& what) { check.refuse(what); });
    check.exhausted("exhausted", options.exhausted);
    check.exhausted("expired", options.expired);
    QueueOptions stored = options;
    if (stored.window == 0)
        stored.window = window_max(topic_options);
    check.window(topic_options, stored.window);
    stored.dead_letter_topic = check.letters(options);
    layout::WorkSettings rounded{};
    store_backoff(options.backoff, rounded);
    stored.backoff = stored_backoff(rounded);
    return stored;
}

layout::WorkSettings work_settings_of(const QueueOptions& options) noexcept {
    layout::WorkSettings settings{};
    settings.kind = kWorkOfQueue;
    settings.lock_ms = milliseconds_of(options.lock_time);
    store_backoff(options.backoff, settings);
    settings.delivery_limit = options.delivery_limit;
    settings.exhausted = static_cast<std::uint32_t>(options.exhausted);
    settings.expired = static_cast<std::uint32_t>(options.expired);
    settings.in_flight_max = options.max_in_flight;
    return settings;
}

group_table::GroupOptions group_options_of(const QueueOptions& options) noexcept {
    group_table::GroupOptions group;
    group.gating = options.gating;
    group.kind = group_table::GroupKind::queue;
    group.start_kind = static_cast<std::uint8_t>(options.start.kind);
    group.start_value = options.start.kind == Position::Kind::time ? static_cast<std::uint64_t>(options.start.time_ns) : options.start.value;
    return group;
}

QueueOptions queue_options_of(const layout::WorkSettings& settings, const group_table::GroupOptions& group, std::uint64_t window) {
    QueueOptions options;
    options.start = start_of(group);
    options.gating = group.gating;
    options.lock_time = time_of(settings.lock_ms);
    options.delivery_limit = settings.delivery_limit;
    options.backoff = stored_backoff(settings);
    options.exhausted = static_cast<Exhausted>(settings.exhausted);
    options.expired = static_cast<Exhausted>(settings.expired);
    options.dead_letter_topic = letters_name(settings);
    options.max_in_flight = settings.in_flight_max;
    options.window = window;
    return options;
}

Position start_of(const group_table::GroupOptions& group) noexcept {
    switch (static_cast<Position::Kind>(group.start_kind)) {
        case Position::Kind::latest: return Position::latest();
        case Position::Kind::offset: return Position::at(group.start_value);
        case Position::Kind::time: return Position::since(static_cast<std::int64_t>(group.start_value));
        default: return Position::earliest();
    }
}

void check_same_queue_options(std::string_view topic, std::string_view queue, const QueueOptions& found, const QueueOptions& wanted) {
    const auto same = [&](const char* option, const std::string& of_found, const std::string& of_wanted) {
        differ(topic, queue, option, of_found, of_wanted);
    };
    same("start", text_of(found.start), text_of(wanted.start));
    same("gating", found.gating ? "on" : "off", wanted.gating ? "on" : "off");
    same("lock_time", number(found.lock_time), number(wanted.lock_time));
    same("delivery_limit", std::to_string(found.delivery_limit), std::to_string(wanted.delivery_limit));
    same("backoff.first", number(found.backoff.first), number(wanted.backoff.first));
    same("backoff.max", number(found.backoff.max), number(wanted.backoff.max));
    same("backoff.factor", number(found.backoff.factor), number(wanted.backoff.factor));
    same("backoff.jitter", number(found.backoff.jitter), number(wanted.backoff.jitter));
    same("exhausted", std::string(to_string(found.exhausted)), std::string(to_string(wanted.exhausted)));
    same("expired", std::string(to_string(found.expired)), std::string(to_string(wanted.expired)));
    same("dead_letter_topic", "'" + found.dead_letter_topic + "'", "'" + wanted.dead_letter_topic + "'");
    same("max_in_flight", std::to_string(found.max_in_flight), std::to_string(wanted.max_in_flight));
    same("window", std::to_string(found.window), std::to_string(wanted.window));
}

}  // namespace ringmain
