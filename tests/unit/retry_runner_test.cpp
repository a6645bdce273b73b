// Runners: attempts, dead letters, order, what stops a partition, and partitions that come and go.
#include <map>
#include <stdexcept>
#include <thread>

#include "support/retry_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

using Offsets = std::vector<std::uint64_t>;

Handled fails(const ConsumerRecord&, const Attempt&) { return Handled::failure("no"); }

/// Notes what it is given, and fails what it is told to, that often.
struct Flaky {
    std::map<std::uint64_t, std::uint32_t> failures;  // by offset
    Offsets seen;
    std::vector<std::uint32_t> attempts;

    [[nodiscard]] RetryHandler handler() {
        return [this](const ConsumerRecord& record, const Attempt& attempt) {
            seen.push_back(record.offset);
            attempts.push_back(attempt.number);
            auto left = failures.find(record.offset);
            if (left == failures.end() || left->second == 0)
                return Handled::success();
            --left->second;
            return Handled::failure("attempt " + std::to_string(attempt.number));
        };
    }
};

}  // namespace

TEST_CASE("A runner handles every record once, in order, and commits what is finished") {
    RetryPlace place(2);
    place.publish_many(20, 0);
    place.publish_many(20, 1);
    RetryRunner runner(place.broker, "t", group(), at_once());
    std::map<std::uint32_t, Offsets> seen;
    const RunCounts counts =
        run_all(runner, [&](const ConsumerRecord& record) { seen[record.partition].push_back(record.offset); });
    CHECK(counts.succeeded == 40);
    CHECK(counts.failed == 0);
    for (std::uint32_t p = 0; p < 2; ++p) {
        REQUIRE(seen[p].size() == 20);
        CHECK(std::is_sorted(seen[p].begin(), seen[p].end()));
        CHECK(place.committed(p) == 20);
    }
    CHECK(place.letters().empty());
}

TEST_CASE("A record that fails is tried again until it succeeds, and later ones of its partition wait") {
    RetryPlace place;
    place.publish_many(4);
    Flaky flaky;
    flaky.failures[1] = 2;
    RetryRunner runner(place.broker, "t", group(), at_once());
    const RunCounts counts = run_all(runner, flaky.handler());
    CHECK(flaky.seen == Offsets{0, 1, 1, 1, 2, 3});
    CHECK(flaky.attempts == std::vector<std::uint32_t>{1, 1, 2, 3, 1, 1});
    CHECK(counts.failed == 2);
    CHECK(place.committed() == 4);
    CHECK(place.letters().empty());
}

TEST_CASE(
    "G05 G07 A record that never succeeds becomes one letter with its attempts, errors and origin, and the group goes "
    "on") {
    RetryPlace place;
    {
        Producer producer(place.broker, "t");
        const Header headers[] = {{"trace", as_bytes("abc")}, {"ringmain-dlq-attempts", as_bytes("99")}};
        ProducerRecord record;
        record.value = as_bytes("poison");
        record.key = as_bytes("k");
        record.headers = headers;
        record.timestamp_ns = 12'345;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
    place.publish("good");
    std::vector<std::uint32_t> numbers;
    RetryRunner runner(place.broker, "t", group(), at_once(5));
    const RunCounts counts = run_all(runner, [&](const ConsumerRecord& record, const Attempt& attempt) -> Handled {
        CHECK(attempt.of == 5);
        if (record.offset != 0)
            return Handled::success();
        numbers.push_back(attempt.number);
        if (attempt.number == 1)
            throw std::runtime_error("first thrown");
        return Handled::failure("failure " + std::to_string(attempt.number));
    });
    CHECK(numbers == std::vector<std::uint32_t>{1, 2, 3, 4, 5});
    CHECK(counts.dead_lettered == 1);
    CHECK(place.committed() == 2);
    const auto letters = place.letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters[0].value == "poison");
    CHECK(letters[0].key == "k");
    CHECK(letters[0].offset == 0);
    CHECK(letters[0].attempts == 5);
    CHECK(letters[0].reason == DeadLetterReason::limit);
    CHECK(letters[0].first_error == "first thrown");
    CHECK(letters[0].last_error == "failure 5");
    CHECK(letters[0].group == "g");
    CHECK(letters[0].timestamp_ns == 12'345);
    CHECK(letters[0].headers == std::vector<std::pair<std::string, std::string>>{{"trace", "abc"}});
}

TEST_CASE("A rejected record is dead-lettered at once, and what throws something that is no exception has failed") {
    RetryPlace place;
    place.publish_many(2);
    RetryRunner runner(place.broker, "t", group(), at_once(2));
    (void)run_all(runner, [](const ConsumerRecord& record, const Attempt&) -> Handled {
        if (record.offset == 0)
            return Handled::rejected("cannot be read");
        throw 7;
    });
    const auto letters = place.letters();
    REQUIRE(letters.size() == 2);
    CHECK(letters[0].reason == DeadLetterReason::rejected);
    CHECK(letters[0].attempts == 1);
    CHECK(letters[0].last_error == "cannot be read");
    CHECK(letters[1].attempts == 2);
    CHECK(letters[1].last_error == "an exception that is no std::exception");
}

TEST_CASE("A failure waits for the back-off before it is tried again") {
    RetryPlace place;
    place.publish("x");
    RetryRunner runner(place.broker, "t", group(), after(200ms));
    std::vector<std::chrono::steady_clock::time_point> calls;
    (void)run_until(
        runner,
        [&](const ConsumerRecord&, const Attempt&) {
            calls.push_back(std::chrono::steady_clock::now());
            return calls.size() == 1 ? Handled::failure() : Handled::success();
        },
        [&] { return calls.size() == 2; });
    REQUIRE(calls.size() == 2);
    CHECK(calls[1] - calls[0] >= 180ms);  // the clock of back-offs has the resolution of a kernel tick
}

TEST_CASE(
    "G12 In key order only records of the same key wait, others go on, and commits never pass an unfinished one") {
    RetryPlace place;
    for (const char* const key : {"K", "A", "K", "B", "K"})
        place.publish("x", key);
    place.publish("without a key");
    Flaky flaky;
    flaky.failures[0] = 2;
    RetryRunner runner(place.broker, "t", group(), after(500ms, 5, RetryOrder::key));
    const RetryHandler handler = flaky.handler();
    while (flaky.seen.size() < 4)
        (void)runner.run_once(handler, 10ms);
    CHECK(Offsets(flaky.seen.begin(), flaky.seen.begin() + 4) == Offsets{0, 1, 3, 5});
    CHECK(place.committed() == 0);
    (void)run_until(runner, handler, [&] { return place.committed() == 6; });
    CHECK(place.committed() == 6);
    Offsets of_k;
    std::copy_if(flaky.seen.begin(), flaky.seen.end(), std::back_inserter(of_k),
                 [](std::uint64_t at) { return at % 2 == 0 && at < 5; });
    CHECK(of_k == Offsets{0, 0, 0, 2, 4});
}

TEST_CASE("G12 A successor keeps the order of keys that an attempt before it has begun") {
    RetryPlace place;
    for (const char* const key : {"K", "A", "K", "A"})
        place.publish("x", key);
    Flaky first;
    first.failures[0] = 1;
    {
        RetryRunner runner(place.broker, "t", group(), after(500ms, 5, RetryOrder::key));
        const RetryHandler handler = first.handler();
        while (first.seen.size() < 3)
            (void)runner.run_once(handler, 10ms);
        CHECK(first.seen == Offsets{0, 1, 3});
    }
    CHECK(place.committed() == 0);
    Flaky second;
    RetryRunner runner(place.broker, "t", group(), after(500ms, 5, RetryOrder::key));
    (void)run_until(runner, second.handler(), [&] { return place.committed() == 4; });
    CHECK(second.seen == Offsets{0, 2});  // what was finished is not repeated
    CHECK(second.attempts == std::vector<std::uint32_t>{2, 1});
}

TEST_CASE("Without an order nothing waits, and with too many that wait the partition does") {
    RetryPlace place;
    place.publish_many(10);
    Flaky flaky;
    for (std::uint64_t offset = 0; offset < 4; ++offset)
        flaky.failures[offset] = 1;
    RetryOptions options = after(100ms, 5, RetryOrder::none);
    options.waiting_max = 3;
    RetryRunner runner(place.broker, "t", group(), options);
    const RetryHandler handler = flaky.handler();
    while (flaky.seen.size() < 3)
        (void)runner.run_once(handler, 10ms);
    (void)runner.run_once(handler);
    CHECK(flaky.seen == Offsets{0, 1, 2});  // a fourth would be one too many
    (void)run_until(runner, handler, [&] { return place.committed() == 10; });
    CHECK(place.committed() == 10);
    CHECK(flaky.seen.size() == 14);
}

TEST_CASE("G10 Without dead letters an exhausted record is skipped and counted, and stays skipped over restarts") {
    RetryPlace place;
    place.publish_many(3);
    RetryOptions options = at_once(2);
    options.exhausted = Exhausted::skip;
    for (int life = 0; life < 2; ++life) {
        RetryRunner runner(place.broker, "t", group(), options);
        Offsets seen;
        const RunCounts counts = run_all(runner, [&](const ConsumerRecord& record, const Attempt&) {
            seen.push_back(record.offset);
            return record.offset == 1 ? Handled::failure() : Handled::success();
        });
        CHECK(seen == (life == 0 ? Offsets{0, 1, 1, 2} : Offsets{}));
        CHECK(counts.skipped == (life == 0 ? 1 : 0));
        CHECK(place.committed() == 3);
    }
    CHECK(place.broker.list_topics() == std::vector<std::string>{"t"});
}

TEST_CASE("G10 A group that is to stop stops at the exhausted record, over restarts, until it is moved") {
    RetryPlace place;
    place.publish_many(3);
    RetryOptions options = at_once(2);
    options.exhausted = Exhausted::stop;
    Offsets seen;
    const RetryHandler handler = [&](const ConsumerRecord& record, const Attempt&) {
        seen.push_back(record.offset);
        return record.offset == 1 ? Handled::failure("broken") : Handled::success();
    };
    for (int life = 0; life < 2; ++life) {
        RetryRunner runner(place.broker, "t", group(), options);
        (void)run_all(runner, handler);
        const RunResult result = runner.run_once(handler);
        REQUIRE(result.stopped.size() == 1);
        CHECK(result.stopped[0].why == StopReason::exhausted);
        CHECK(result.stopped[0].offset == 1);
        CHECK(result.stopped[0].attempts == 2);
        CHECK(result.stopped[0].error == (life == 0 ? "broken" : ""));
    }
    CHECK(seen == Offsets{0, 1, 1});
    CHECK(place.committed() == 1);
    seen.clear();
    place.reset(ResetTarget::at(1));  // tried anew
    {
        RetryRunner runner(place.broker, "t", group(), options);
        (void)run_all(runner, handler);
        CHECK(seen == Offsets{1, 1});
    }
    place.reset(ResetTarget::at(2));  // passed
    RetryRunner runner(place.broker, "t", group(), options);
    (void)run_all(runner, handler);
    CHECK(seen == Offsets{1, 1, 2});
    CHECK(place.committed() == 3);
}

TEST_CASE(
    "A group that is moved back by an operator while it is run repeats everything from there, from the first attempt "
    "on") {
    RetryPlace place;
    place.publish_many(6);
    Flaky flaky;
    flaky.failures[4] = 1;
    RetryRunner runner(place.broker, "t", group(), at_once(3, RetryOrder::none));
    (void)run_all(runner, flaky.handler());
    CHECK(place.committed() == 6);
    flaky.seen.clear();
    flaky.attempts.clear();
    place.reset(ResetTarget::at(2));
    (void)run_until(runner, flaky.handler(), [&] { return place.committed() == 6; });
    CHECK(flaky.seen == Offsets{2, 3, 4, 5});
    CHECK(flaky.attempts == std::vector<std::uint32_t>{1, 1, 1, 1});
}

TEST_CASE("A group with retries that a plain member has moved back repeats its records, too") {
    RetryPlace place;
    place.publish_many(4);
    {
        RetryRunner runner(place.broker, "t", group(), at_once());
        (void)run_all(runner, [](const ConsumerRecord&) {});
    }
    {
        GroupOptions by_hand = group();
        by_hand.delivery = Delivery::manual;
        Consumer consumer(place.broker, by_hand);
        consumer.subscribe("t");
        settle({&consumer}, 1);
        (void)consumer.replay("t", 0, Position::at(1));
    }
    Flaky flaky;
    RetryRunner runner(place.broker, "t", group(), at_once());
    (void)run_until(runner, flaky.handler(), [&] { return place.committed() == 4; });
    CHECK(flaky.seen == Offsets{1, 2, 3});
}

TEST_CASE(
    "G16 With the dead-letter topic full the partition stops and says so, drops nothing, and goes on once there is "
    "room") {
    RetryPlace place;
    TopicOptions small;
    small.records = 16;
    small.producer_slots = 2;
    small.cell_bytes = 256;
    small.payload_bytes = 1 << 16;
    small.when_full = WhenFull::block;
    place.broker.create_topic("graves", small);
    place.publish_many(25);
    RetryOptions options = at_once(1);
    options.dead_letter_topic = "graves";
    RetryRunner runner(place.broker, "t", group(), options);
    (void)run_all(runner, fails);
    const RunResult result = runner.run_once(fails);
    REQUIRE(result.stopped.size() == 1);
    CHECK(result.stopped[0].why == StopReason::letters_full);
    const auto letters = place.letters("graves");
    CHECK(place.committed() == letters.size());
    CHECK(letters.size() < 25);
    std::size_t more = letters.size();
    while (more < 25) {  // somebody purges
        GroupAdmin admin(place.broker);
        (void)admin.execute(admin.plan("graves", "ringmain.dlq", ResetTarget::latest()), true);
        const std::uint64_t before = place.committed();
        (void)run_until(runner, fails, [&] { return place.committed() > before; });
        REQUIRE(place.committed() > before);
        (void)run_all(runner, fails);
        more = place.committed();
    }
    CHECK(place.committed() == 25);
}

TEST_CASE("G02 With the dead-letter topic deleted the partition stops, and nothing is committed past the record") {
    RetryPlace place;
    place.publish_many(3);
    RetryRunner runner(place.broker, "t", group(), at_once(1));
    place.broker.delete_topic("t.dlq");
    Offsets seen;
    const RetryHandler handler = [&](const ConsumerRecord& record, const Attempt&) {
        seen.push_back(record.offset);
        return record.offset == 1 ? Handled::failure() : Handled::success();
    };
    (void)run_all(runner, handler);
    const RunResult result = runner.run_once(handler);
    REQUIRE(result.stopped.size() == 1);
    CHECK(result.stopped[0].why == StopReason::letters_gone);
    CHECK(result.stopped[0].offset == 1);
    CHECK(place.committed() == 1);
    CHECK(seen == Offsets{0, 1});
    (void)place.broker.create_topic("t.dlq");  // another one: not what the group has decided
    CHECK(runner.run_once(handler).stopped.size() == 1);
}

TEST_CASE("G01 A dead-letter topic with fewer partitions takes the letters of all, each with its origin") {
    RetryPlace place(4);
    TopicOptions graves;
    graves.partitions = 3;
    place.broker.create_topic("graves", graves);
    for (std::uint32_t p = 0; p < 4; ++p)
        place.publish("x", std::nullopt, p);
    RetryOptions options = at_once(1);
    options.dead_letter_topic = "graves";
    RetryRunner runner(place.broker, "t", group(), options);
    (void)run_all(runner, fails);
    auto letters = place.letters("graves");
    std::sort(letters.begin(), letters.end(), [](const auto& a, const auto& b) { return a.partition < b.partition; });
    REQUIRE(letters.size() == 4);
    for (std::uint32_t p = 0; p < 4; ++p)
        CHECK(letters[p].partition == p);
}

TEST_CASE("G09 A record in a thousand that always throws costs its own attempts and nobody's order") {
    RetryPlace place(1, 1024);
    place.publish_many(1000);
    RetryRunner runner(place.broker, "t", group(), at_once(3));
    Offsets good;
    std::size_t thrown = 0;
    const RunCounts counts = run_all(runner, [&](const ConsumerRecord& record) {
        if (record.offset == 500) {
            ++thrown;
            throw std::runtime_error("poison");
        }
        good.push_back(record.offset);
    });
    CHECK(good.size() == 999);
    CHECK(std::is_sorted(good.begin(), good.end()));
    CHECK(thrown == 3);
    CHECK(counts.dead_lettered == 1);
    CHECK(place.letters().size() == 1);
}

TEST_CASE("What a predecessor has dead-lettered and not committed is neither handled nor counted again") {
    RetryPlace place;
    place.publish_many(3);
    const RetryHandler handler = [](const ConsumerRecord& record, const Attempt&) {
        return record.offset == 0 ? Handled::failure() : Handled::rejected();  // the first one waits
    };
    {
        RetryRunner runner(place.broker, "t", group(), after(500ms, 2, RetryOrder::none));
        CHECK(run_until(runner, handler, [&] { return place.letters().size() == 2; }).dead_lettered == 2);
    }
    CHECK(place.committed() == 0);
    RetryRunner runner(place.broker, "t", group(), after(500ms, 2, RetryOrder::none));
    const RunCounts counts = run_until(runner, handler, [&] { return place.committed() == 3; });
    CHECK(counts.handled == 1);
    CHECK(counts.dead_lettered == 1);
    CHECK(place.letters().size() == 3);
}

TEST_CASE("What retention took before it was finished is told with numbers, and handled as the group's policy says") {
    const OnLoss policy = GENERATE(OnLoss::error, OnLoss::earliest, OnLoss::latest);
    RetryPlace place;
    GroupOptions options = group();
    options.on_loss = policy;
    { const RetryRunner begins(place.broker, "t", options, at_once()); }
    place.publish_many(500);
    Flaky flaky;
    RetryRunner runner(place.broker, "t", options, at_once());
    const RunResult first = runner.run_once(flaky.handler(), 1s);
    const std::uint64_t start = place.broker.describe_topic("t").partitions[0].log_start;
    if (policy == OnLoss::error) {
        REQUIRE(first.stopped.size() == 1);
        CHECK(first.stopped[0].why == StopReason::position_lost);
        CHECK(flaky.seen.empty());
        place.reset(ResetTarget::earliest());
    } else {
        REQUIRE(first.gaps.size() == 1);
        CHECK(first.gaps[0].from == 0);
        CHECK(first.gaps[0].to == (policy == OnLoss::latest ? 500 : start));
        CHECK(first.counts.lost == first.gaps[0].to);
    }
    (void)run_all(runner, flaky.handler());
    CHECK(place.committed() == 500);
    CHECK(flaky.seen.size() == (policy == OnLoss::latest ? 0 : 500 - start));
}

TEST_CASE("Two runners share the partitions, and one that leaves hands its waiting records over with their attempts") {
    RetryPlace place(4);
    std::optional<RetryRunner> a(std::in_place, place.broker, "t", group(), after(50ms, 30));
    RetryRunner b(place.broker, "t", group(), after(50ms, 30));
    const auto idle = [](const ConsumerRecord&) {};
    for (int i = 0; i < 1000 && (a->partitions().size() != 2 || b.partitions().size() != 2); ++i) {
        (void)a->run_once(idle, 1ms);
        (void)b.run_once(idle, 1ms);
    }
    REQUIRE(a->partitions().size() == 2);
    const std::uint32_t moving = a->partitions()[0];
    place.publish("x", std::nullopt, moving);
    std::uint32_t last = 0;
    const RetryHandler handler = [&](const ConsumerRecord&, const Attempt& attempt) {
        last = attempt.number;
        CHECK_FALSE(attempt.after_death);
        return last < 3 ? Handled::failure() : Handled::success();
    };
    while (last == 0)
        (void)a->run_once(handler, 10ms);
    a.reset();
    (void)run_until(b, handler, [&] { return place.committed(moving) == 1; });
    CHECK(last == 3);
    CHECK(b.partitions().size() == 4);
}

TEST_CASE("A member that was evicted in the midst of a handler hears that its answer came too late") {
    RetryPlace place;
    place.publish("x");
    GroupOptions options = group();
    options.session_timeout = 100ms;
    RetryRunner slow(place.broker, "t", options, after(10ms, 5));
    RetryRunner other(place.broker, "t", options, after(10ms, 5));
    std::uint32_t handled_by_other = 0;
    bool after_death = false;
    RunCounts counts;
    while (counts.handled == 0) {
        counts += slow.run_once(
                          [&](const ConsumerRecord&, const Attempt&) {
                              (void)run_until(
                                  other,
                                  [&](const ConsumerRecord&, const Attempt& attempt) {
                                      after_death = attempt.after_death;
                                      ++handled_by_other;
                                      return Handled::success();
                                  },
                                  [&] { return handled_by_other == 1; });
                              return Handled::success();
                          },
                          10ms)
                      .counts;
        if (counts.handled == 0)
            counts += other.run_once([&](const ConsumerRecord&) { ++handled_by_other; }, 10ms).counts;
        if (!other.partitions().empty() &&
            counts.handled == 0) {  // the assignment gave it to the other: make it the slow one's
            other.close();
            other = RetryRunner(place.broker, "t", options, after(10ms, 5));
        }
    }
    CHECK(handled_by_other == 1);
    CHECK((counts.late == 1 || counts.succeeded == 1));
    if (counts.late == 1)
        CHECK(after_death);
    CHECK(place.committed() == 1);
}

TEST_CASE("A static member comes back to its partitions and to the attempts of its records") {
    RetryPlace place;
    place.publish("x");
    GroupOptions options = group();
    options.static_name = "one";
    std::vector<std::uint32_t> numbers;
    const RetryHandler handler = [&](const ConsumerRecord&, const Attempt& attempt) {
        numbers.push_back(attempt.number);
        return attempt.number < 3 ? Handled::failure() : Handled::success();
    };
    for (std::size_t life = 0; life < 3; ++life) {
        RetryRunner runner(place.broker, "t", options, after(20ms, 5));
        (void)run_until(runner, handler, [&] { return numbers.size() > life; });
    }
    CHECK(numbers == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(place.committed() == 1);
}

TEST_CASE("A gating group with a record in retry holds producers back at exactly that record") {
    RetryPlace place(1, 64, WhenFull::block);
    GroupOptions options = group();
    options.gating = true;
    RetryRunner runner(place.broker, "t", options, after(10ms, 30, RetryOrder::none));
    place.publish("waits");
    bool open = false;
    const RetryHandler handler = [&](const ConsumerRecord& record, const Attempt&) {
        return record.offset == 0 && !open ? Handled::failure() : Handled::success();
    };
    Producer producer(place.broker, "t");
    ProducerRecord record;
    record.value = as_bytes("x");
    Status status = Status::ok;
    for (int i = 0; i < 200 && status == Status::ok; ++i) {
        status = producer.try_publish(record).status;
        (void)runner.run_once(handler);
    }
    CHECK(status == Status::would_block);
    CHECK(place.committed() == 0);
    open = true;
    (void)run_until(runner, handler, [&] { return producer.try_publish(record).status == Status::ok; });
    CHECK(place.committed() > 0);
}
