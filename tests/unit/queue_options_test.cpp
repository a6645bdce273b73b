// Options of queues: what is legal, how it is stored, and what is said of the rest.
#include <cmath>
#include <limits>

#include "queue_options.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "work_settings.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::contains;
using test::thrown_by;

namespace {

TopicOptions topic_of(std::uint64_t records, WhenFull when_full = WhenFull::overwrite) {
    TopicOptions topic;
    topic.records = records;
    topic.when_full = when_full;
    return topic;
}

test::Thrown refused(const QueueOptions& options, const TopicOptions& topic = topic_of(1024), std::string_view queue = "q") {
    return thrown_by([&] { return checked_queue_options("t", queue, topic, options); });
}

void check_refused(const QueueOptions& options, const std::string& what) {
    const test::Thrown thrown = refused(options);
    CHECK(thrown.code == ErrorCode::invalid_argument);
    CHECK_THAT(thrown.text, contains("queue 'q' of topic 't'") && contains(what));
}

layout::WorkSettings legal_settings() {
    layout::WorkSettings settings = work_settings_of(checked_queue_options("t", "q", topic_of(64), {}));
    set_letters(settings, "t.dlq", TopicId{1, 2, 3}, 4);
    return settings;
}

}  // namespace

TEST_CASE("O05 An option of a queue outside of its range is refused with its name, its value and the range") {
    CHECK_FALSE(refused({}).code);
    check_refused({.lock_time = 9ms}, "lock_time 9 ms is outside 10 ms to 43200000 ms");
    check_refused({.lock_time = 12h + 1ms}, "lock_time 43200001 ms");
    check_refused({.delivery_limit = 31}, "delivery_limit 31 is outside 0 to 30");
    check_refused({.backoff = {.first = -1ms}}, "backoff.first -1 ms is outside 0 ms to 43200000 ms");
    check_refused({.backoff = {.first = 2s, .max = 1s}}, "backoff.first 2000 ms is longer than backoff.max, the longest wait, which is 1000 ms");
    check_refused({.backoff = {.max = 13h}}, "backoff.max 46800000 ms is outside 0 ms to 43200000 ms");
    check_refused({.backoff = {.factor = 0.5}}, "backoff.factor 0.5 is outside 1 to 100");
    check_refused({.backoff = {.factor = std::nan("")}}, "backoff.factor nan");
    check_refused({.backoff = {.factor = std::numeric_limits<double>::infinity()}}, "backoff.factor inf");
    check_refused({.backoff = {.jitter = 0.6}}, "backoff.jitter 0.6 is outside 0 to 0.5");
    check_refused({.exhausted = Exhausted::stop}, "exhausted is 'stop'");
    check_refused({.expired = Exhausted::stop}, "expired is 'stop'");
    check_refused({.window = 3}, "window 3 is neither 0 nor a power of two up to 1024");
    check_refused({.window = 2048}, "window 2048");
    check_refused({.start = Position::last(3)}, "the start of a queue is earliest, latest, an offset or a time");
    check_refused({.start = Position::committed()}, "start of a queue");
    check_refused({.start = Position::at(kOffsetMax + 1)}, "start offset");
    check_refused({.gating = true}, "cannot gate: the topic overwrites when full");
    check_refused({.dead_letter_topic = "t"}, "topic 't' itself");
    check_refused({.exhausted = Exhausted::skip, .expired = Exhausted::skip, .dead_letter_topic = "d"}, "dead_letter_topic 'd' is named, and nothing goes there");
    CHECK(refused({.dead_letter_topic = "a/b"}).code == ErrorCode::invalid_argument);
    CHECK_THAT(refused({}, topic_of(1024), "").text, contains("a name has 1 to 200 bytes, this one 0"));
    CHECK_THAT(refused({}, topic_of(1024), "ringmain.dlq").text, contains("queue 'ringmain.dlq' of topic 't' cannot be: the name is reserved for the group that keeps dead letters"));
    CHECK_THAT(refused({}, topic_of(1024), std::string(201, 'q')).text, contains("this one 201"));
    CHECK_FALSE(refused({.gating = true}, topic_of(1024, WhenFull::block)).code);
}

TEST_CASE("Options of a queue come back as they were stored; what was not said is what it means") {
    QueueOptions options{.start = Position::since(-5),
                         .gating = true,
                         .lock_time = 10ms,
                         .delivery_limit = 30,
                         .backoff = {.first = 0ms, .max = 12h, .factor = 1.5, .jitter = 0.25},
                         .exhausted = Exhausted::skip,
                         .expired = Exhausted::dead_letter,
                         .dead_letter_topic = "dead",
                         .max_in_flight = 7,
                         .window = 16};
    const QueueOptions stored = checked_queue_options("t", "q", topic_of(64, WhenFull::block), options);
    layout::WorkSettings settings = work_settings_of(stored);
    set_letters(settings, stored.dead_letter_topic, TopicId{9}, 3);
    CHECK_FALSE(fault_of(settings));
    CHECK(letters_name(settings) == "dead");
    CHECK(letters_id(settings) == TopicId{9});
    const QueueOptions found = queue_options_of(settings, group_options_of(stored), stored.window);
    CHECK_FALSE(thrown_by([&] { check_same_queue_options("t", "q", found, stored); return 0; }).code);
    CHECK(found.start.time_ns == -5);
    CHECK(found.backoff == options.backoff);
    CHECK((found.gating && found.max_in_flight == 7 && found.window == 16 && found.delivery_limit == 30));

    const QueueOptions usual = checked_queue_options("t", "q", topic_of(64), {});
    CHECK(usual.dead_letter_topic == "t.dlq");
    CHECK(usual.window == 64);
    CHECK(checked_queue_options("t", "q", topic_of(std::uint64_t{1} << 25), {}).window == std::uint64_t{1} << 24);
}

TEST_CASE("The first option in which two queues differ is named, with both values") {
    const auto differ = [](const QueueOptions& wanted) {
        const TopicOptions topic = topic_of(64, WhenFull::block);
        const QueueOptions found = checked_queue_options("t", "q", topic, {});
        const auto thrown = thrown_by([&] { check_same_queue_options("t", "q", found, checked_queue_options("t", "q", topic, wanted)); return 0; });
        CHECK(thrown.code == ErrorCode::mismatch);
        return thrown.text;
    };
    CHECK_THAT(differ({.lock_time = 5s}), contains("exists with lock_time 30000 ms, not 5000 ms"));
    CHECK_THAT(differ({.start = Position::latest(), .lock_time = 5s}), contains("start earliest, not latest"));
    CHECK_THAT(differ({.start = Position::at(3)}), contains("not offset 3"));
    CHECK_THAT(differ({.gating = true}), contains("gating off, not on"));
    CHECK_THAT(differ({.delivery_limit = 0}), contains("delivery_limit 5, not 0"));
    CHECK_THAT(differ({.backoff = {.first = 2s}}), contains("backoff.first 1000 ms, not 2000 ms"));
    CHECK_THAT(differ({.backoff = {.max = 2s}}), contains("backoff.max"));
    CHECK_THAT(differ({.backoff = {.factor = 3}}), contains("backoff.factor 2, not 3"));
    CHECK_THAT(differ({.backoff = {.jitter = 0}}), contains("backoff.jitter 0.1, not 0"));
    CHECK_THAT(differ({.exhausted = Exhausted::skip}), contains("exhausted dead_letter, not skip"));
    CHECK_THAT(differ({.expired = Exhausted::skip}), contains("expired dead_letter, not skip"));
    CHECK_THAT(differ({.dead_letter_topic = "d"}), contains("dead_letter_topic 't.dlq', not 'd'"));
    CHECK_THAT(differ({.max_in_flight = 3}), contains("max_in_flight 0, not 3"));
    CHECK_THAT(differ({.window = 32}), contains("window 64, not 32"));
}

TEST_CASE("Settings that no queue and no runner would write have a fault, whatever the bytes are") {
    CHECK_FALSE(fault_of(legal_settings()));
    const auto fault = [](auto&& change) {
        layout::WorkSettings settings = legal_settings();
        change(settings);
        return fault_of(settings).value_or("none");
    };
    CHECK_THAT(fault([](auto& s) { s.kind = 0; }), contains("kind 0"));
    CHECK_THAT(fault([](auto& s) { s.kind = 3; }), contains("kind 3"));
    CHECK_THAT(fault([](auto& s) { s.lock_ms = 9; }), contains("lock_ms 9"));
    CHECK_THAT(fault([](auto& s) { s.lock_ms = ~std::uint64_t{0}; }), contains("lock_ms"));
    CHECK_THAT(fault([](auto& s) { s.backoff_max_ms = ~std::uint64_t{0}; }), contains("backoff_max_ms"));
    CHECK_THAT(fault([](auto& s) { s.backoff_first_ms = s.backoff_max_ms + 1; }), contains("backoff_first_ms"));
    CHECK_THAT(fault([](auto& s) { s.backoff_factor_permille = 999; }), contains("backoff_factor_permille"));
    CHECK_THAT(fault([](auto& s) { s.backoff_jitter_permille = 501; }), contains("backoff_jitter_permille"));
    CHECK_THAT(fault([](auto& s) { s.delivery_limit = 31; }), contains("delivery_limit"));
    CHECK_THAT(fault([](auto& s) { s.exhausted = 2; }), contains("exhausted 2 is outside 0 to 1"));
    CHECK(fault([](auto& s) { s.exhausted = 2, s.kind = kWorkOfStream; }) == "none");
    CHECK_THAT(fault([](auto& s) { s.expired = 2; }), contains("expired"));
    CHECK_THAT(fault([](auto& s) { s.letters_name_length = 250; }), contains("250 bytes"));
    CHECK_THAT(fault([](auto& s) { s.letters_name_length = 0; }), contains("none is named"));
    CHECK_THAT(fault([](auto& s) { s.letters_name[0] = '/'; }), contains("name is none that a topic can have"));
    CHECK_THAT(fault([](auto& s) { s.letters_id_low = s.letters_id_high = 0; }), contains("no id"));
    CHECK_THAT(fault([](auto& s) { s.letters_partitions = 0; }), contains("letters_partitions 0"));
    CHECK_THAT(fault([](auto& s) { s.letters_partitions = 1025; }), contains("letters_partitions 1025"));
    CHECK_THAT(fault([](auto& s) { s.exhausted = s.expired = 1, s.letters_name_length = 0; }), contains("no name"));
}
