// Named producers through the public classes: sequences, successors, and what is refused.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;

namespace {

TopicOptions small_topic(std::uint32_t partitions = 1) {
    TopicOptions options;
    options.partitions = partitions;
    options.records = 64;
    options.producer_slots = 4;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    return options;
}

ProducerOptions named(const std::string& name, bool exclusive = false) {
    ProducerOptions options;
    options.name = name;
    options.exclusive = exclusive;
    return options;
}

ProducerRecord record(std::string_view value, std::uint64_t sequence, std::uint32_t partition = 0) {
    ProducerRecord record;
    record.value = as_bytes(value);
    record.partition = partition;
    record.sequence = sequence;
    return record;
}

struct Read {
    std::string value;
    std::optional<ProducerStamp> stamp;
    std::uint32_t headers = 0;
};

std::vector<Read> read_all(const Broker& broker) {
    Consumer consumer(broker);
    consumer.assign("events");
    std::vector<Read> all;
    for (;;) {
        const PollResult result = consumer.poll();
        REQUIRE(result.status == Status::ok);
        REQUIRE(result.gaps.empty());
        if (result.records.empty())
            return all;
        for (const ConsumerRecord& one : result.records)
            all.push_back({std::string(as_text(*one.value)), one.stamp(), one.headers.size()});
    }
}

}  // namespace

TEST_CASE("a named producer publishes each sequence once, and its successor knows the last one") {
    const bool exclusive = GENERATE(false, true);
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    {
        Producer producer(test.broker, "events", named("stage", exclusive));
        CHECK(producer.last_sequence() == 0);
        CHECK(producer.publish(record("a", 5)).status == Status::ok);
        CHECK(producer.publish(record("again", 5)).status == Status::duplicate);
        CHECK(producer.publish(record("before", 4)).status == Status::duplicate);
        CHECK(producer.publish(record("b", 9)).status == Status::ok);
        CHECK(producer.last_sequence() == 9);
    }
    Producer successor(test.broker, "events", named("stage", exclusive));
    CHECK(successor.last_sequence() == 9);
    CHECK(successor.publish(record("again", 9)).status == Status::duplicate);
    CHECK(successor.publish(record("c", 10)).status == Status::ok);
    const std::vector<Read> all = read_all(test.broker);
    REQUIRE(all.size() == 3);
    CHECK(all[0].value == "a");
    CHECK(all[1].value == "b");
    CHECK(all[2].value == "c");
    CHECK(all[2].stamp == ProducerStamp{producer_id("stage"), 10});
    CHECK(test.broker.verify().damage.empty());
}

TEST_CASE("the last sequence of a name outlives its records") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    {
        Producer producer(test.broker, "events", named("stage"));
        REQUIRE(producer.publish(record("a", 7)).status == Status::ok);
    }
    Producer plain(test.broker, "events");
    for (int i = 0; i < 200; ++i)
        REQUIRE(plain.publish(record("plain", 0)).status == Status::ok);
    Producer successor(test.broker, "events", named("stage"));
    CHECK(successor.last_sequence() == 7);
}

TEST_CASE("a stamp travels with headers, without them, in cells and in extents, copied and seen in place") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    Producer producer(test.broker, "events", named("stage"));
    const std::array<Header, 1> headers = {Header{"source", as_bytes("x")}};
    std::uint64_t sequence = 0;
    for (const std::size_t bytes : {0, 24, 25, 500}) {
        ProducerRecord with = record("", ++sequence);
        const std::string value(bytes, 'v');
        with.value = as_bytes(value);
        REQUIRE(producer.publish(with).status == Status::ok);
        with.sequence = ++sequence;
        with.headers = headers;
        REQUIRE(producer.publish(with).status == Status::ok);
    }
    const std::vector<Read> all = read_all(test.broker);
    REQUIRE(all.size() == sequence);
    Consumer consumer(test.broker);
    consumer.assign("events");
    for (std::uint64_t i = 0; i < sequence; ++i) {
        CHECK(all[i].stamp == ProducerStamp{producer_id("stage"), i + 1});
        CHECK(all[i].headers == i % 2);
        std::optional<ProducerStamp> seen;
        REQUIRE(consumer.visit([&](const ConsumerRecord& one) { seen = one.stamp(); }) == VisitStatus::valid);
        CHECK(seen == all[i].stamp);
    }
    CHECK(test.broker.verify().damage.empty());
}

TEST_CASE("a record without a name has no stamp") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    Producer producer(test.broker, "events");
    REQUIRE(producer.publish(record("plain", 0)).status == Status::ok);
    CHECK_FALSE(read_all(test.broker).at(0).stamp);
}

TEST_CASE("a name wants a sequence and a sequence a name") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    Producer stage(test.broker, "events", named("stage"));
    Producer plain(test.broker, "events");
    const std::array<ProducerRecord, 1> without = {record("a", 0)};
    const std::array<ProducerRecord, 1> with = {record("a", 1)};
    CHECK(stage.publish(without[0]).status == Status::invalid);
    CHECK(stage.publish_batch(without).status == Status::invalid);
    CHECK(stage.loan(8, without[0]).status() == Status::invalid);
    CHECK(plain.publish(with[0]).status == Status::invalid);
    CHECK(plain.publish_batch(with).status == Status::invalid);
    CHECK(plain.loan(8, with[0]).status() == Status::invalid);
    CHECK(test::thrown_by([&] { (void)plain.last_sequence(); }).code == ErrorCode::invalid_argument);
    CHECK(read_all(test.broker).empty());
}

TEST_CASE("each record of a named batch has its own sequence and its own answer") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    Producer producer(test.broker, "events", named("stage"));
    REQUIRE(producer.publish(record("2", 2)).status == Status::ok);
    const std::array<ProducerRecord, 4> batch = {record("1", 1), record("2", 2), record("3", 3), record("4", 4)};
    std::array<PublishResult, 4> results;
    const BatchResult answer = producer.publish_batch(batch, results);
    CHECK(answer.status == Status::duplicate);
    CHECK(answer.published == 2);
    CHECK(results[0].status == Status::duplicate);
    CHECK(results[1].status == Status::duplicate);
    CHECK(results[2].status == Status::ok);
    CHECK(results[3].status == Status::ok);
    CHECK(read_all(test.broker).size() == 3);
}

TEST_CASE("loans of a named producer carry their sequence") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    Producer producer(test.broker, "events", named("stage"));
    std::uint64_t sequence = 0;
    for (const std::size_t bytes : {8, 24, 25, 500}) {
        Loan loan = producer.loan(bytes, record("", ++sequence));
        REQUIRE(loan.status() == Status::ok);
        for (std::byte& byte : loan.value())
            byte = std::byte{'l'};
        REQUIRE(producer.publish(loan).status == Status::ok);
        CHECK(read_all(test.broker).back().stamp == ProducerStamp{producer_id("stage"), sequence});
        CHECK(read_all(test.broker).back().value == std::string(bytes, 'l'));
    }
    Loan late = producer.loan(8, record("", sequence));
    REQUIRE(late.status() == Status::ok);
    CHECK(producer.publish(late).status == Status::duplicate);
}

TEST_CASE("sequences are counted by partition and by name") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic(2));
    Producer one(test.broker, "events", named("one"));
    Producer two(test.broker, "events", named("two"));
    REQUIRE(one.publish(record("a", 8, 0)).status == Status::ok);
    REQUIRE(one.publish(record("b", 3, 1)).status == Status::ok);
    REQUIRE(two.publish(record("c", 5, 0)).status == Status::ok);
    CHECK(one.last_sequence(0) == 8);
    CHECK(one.last_sequence(1) == 3);
    CHECK(two.last_sequence(0) == 5);
    CHECK(two.last_sequence(1) == 0);
}

TEST_CASE("a name belongs to one producer while its process lives, stopped or not") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    test::Child child([&] {
        const Broker own(test.scratch.broker());
        Producer producer(own, "events", named("stage"));
        if (producer.publish(record("a", 1)).status != Status::ok || ::write(ready[1], "x", 1) != 1)
            return 3;
        ::pause();
        return 0;
    });
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    child.signal(SIGSTOP);
    try {
        const Producer second(test.broker, "events", named("stage"));
        FAIL("the name was given out twice");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::busy);
        CHECK_THAT(error.what(), test::contains("stage") && test::contains(std::to_string(child.pid())));
    }
    CHECK(Producer(test.broker, "events", named("another")).publish(record("b", 1)).status == Status::ok);
    child.kill();
    Producer second(test.broker, "events", named("stage"));
    CHECK(second.last_sequence() == 1);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("two producers of one handle do not share a name, and a refused one leaves no slot taken") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    const Producer first(test.broker, "events", named("stage"));
    for (int i = 0; i < 8; ++i)
        CHECK(test::thrown_by([&] { const Producer second(test.broker, "events", named("stage")); }).code == ErrorCode::busy);
    CHECK(test.broker.describe_topic("events").partitions.at(0).producers.size() == 1);
}

TEST_CASE("names have a length and a number that are not exceeded") {
    test::TestBroker test;
    (void)test.broker.create_topic("events", small_topic());
    const std::string longest(producer_name_bytes_max, 'n');
    CHECK(test::thrown_by([&] { const Producer refused(test.broker, "events", named(longest + "n")); }).code == ErrorCode::invalid_argument);
    CHECK(Producer(test.broker, "events", named(longest)).publish(record("a", 1)).status == Status::ok);
    for (std::size_t i = 1; i < producer_names_max; ++i) {
        const Producer another(test.broker, "events", named("name " + std::to_string(i)));
    }
    CHECK(test::thrown_by([&] { const Producer refused(test.broker, "events", named("one more")); }).code == ErrorCode::limit);
    CHECK(Producer(test.broker, "events", named(longest)).last_sequence() == 1);
}

TEST_CASE("a stamp counts for the largest record") {
    test::TestBroker test;
    TopicOptions options = small_topic();
    options.payload_bytes = 0;
    (void)test.broker.create_topic("events", options);
    Producer producer(test.broker, "events", named("stage"));
    CHECK(producer.publish(record(std::string(24, 'v'), 1)).status == Status::ok);
    CHECK(producer.publish(record(std::string(25, 'v'), 2)).status == Status::too_large);
    CHECK(producer.last_sequence() == 1);
}
