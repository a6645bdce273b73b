// The consumer: positions, gaps, visits, waiting, and the descriptor for event loops.
#include "ringmain/consumer.hpp"

#include <poll.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "partition_log/tickets.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "topic_files.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

struct TestTopic {
    explicit TestTopic(std::uint32_t partitions = 1) {
        TopicOptions options;
        options.partitions = partitions;
        options.records = 64;
        options.producer_slots = 2;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 16;
        broker.create_topic("t", options);
    }
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
};

Status publish(Producer& producer, const std::string& value, std::uint32_t partition = 0) {
    ProducerRecord record;
    record.value = as_bytes(value);
    record.partition = partition;
    return producer.publish(record).status;
}

void publish_numbers(Producer& producer, int from, int to, std::uint32_t partition = 0) {
    for (int i = from; i < to; ++i) REQUIRE(publish(producer, std::to_string(i), partition) == Status::ok);
}

bool readable(int descriptor, int timeout_ms) {
    pollfd entry{descriptor, POLLIN, 0};
    return ::poll(&entry, 1, timeout_ms) == 1;
}

std::uint64_t first_offset(Consumer& consumer) {
    const PollResult result = consumer.poll(1);
    REQUIRE(result.records.size() == 1);
    return result.records[0].offset;
}

}  // namespace

TEST_CASE("A consumer reads history and live records by the same poll") {
    TestTopic topic;
    Producer producer(topic.broker, "t");
    Consumer consumer(topic.broker);
    consumer.assign("t");
    CHECK(consumer.poll().records.empty());
    publish_numbers(producer, 0, 3);
    const PollResult result = consumer.poll();
    REQUIRE(result.records.size() == 3);
    CHECK(result.status == Status::ok);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(result.records[i].offset == i);
        CHECK(result.records[i].topic == "t");
        CHECK(as_text(*result.records[i].value) == std::to_string(i));
    }
    CHECK(consumer.position("t", 0) == 3);
    publish_numbers(producer, 3, 4);
    CHECK(first_offset(consumer) == 3);
}

TEST_CASE("A consumer begins at earliest, latest, an offset, the last N, or a time") {
    TestTopic topic;
    Producer producer(topic.broker, "t");
    for (int i = 0; i < 10; ++i) {
        ProducerRecord record;
        record.value = as_bytes("x");
        record.timestamp_ns = 100 * i;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
    Consumer consumer(topic.broker);
    consumer.assign("t", 0, Position::latest());
    CHECK(consumer.position("t", 0) == 10);
    CHECK(consumer.seek("t", 0, Position::earliest()).offset == 0);
    CHECK(consumer.seek("t", 0, Position::last(3)).offset == 7);
    CHECK(consumer.seek("t", 0, Position::last(300)).offset == 0);
    CHECK(consumer.seek("t", 0, Position::at(4)).offset == 4);
    CHECK(first_offset(consumer) == 4);
    CHECK(consumer.seek("t", 0, Position::since(450)).offset == 5);
    CHECK_FALSE(consumer.seek("t", 0, Position::since(900)).at_end);
    CHECK(consumer.seek("t", 0, Position::since(901)).at_end);
    const SeekResult end = consumer.seek("t", 0, Position::at(10));
    CHECK((end.at_end && !end.beyond_end));
    const SeekResult beyond = consumer.seek("t", 0, Position::at(12));
    CHECK((!beyond.at_end && beyond.beyond_end));
    CHECK(consumer.poll().records.empty());
    publish_numbers(producer, 10, 13);
    CHECK(first_offset(consumer) == 12);
}

TEST_CASE("A consumer that was lapped gets one gap with numbers and resumes at the log start") {
    TestTopic topic;
    Producer producer(topic.broker, "t");
    Consumer consumer(topic.broker);
    consumer.assign("t");
    publish_numbers(producer, 0, 500);
    const PollResult result = consumer.poll(1000);
    REQUIRE(result.gaps.size() == 1);
    const std::uint64_t start = consumer.log_start("t", 0);
    CHECK(result.gaps[0].from == 0);
    CHECK(result.gaps[0].to == start);
    CHECK(result.gaps[0].reason == GapReason::overwritten);
    const PollResult rest = result.records.empty() ? consumer.poll(1000) : result;
    REQUIRE_FALSE(rest.records.empty());
    CHECK(rest.records[0].offset == start);
    CHECK(rest.records.size() + start == 500);
    consumer.seek("t", 0, Position::at(3));
    const PollResult again = consumer.poll(1);
    REQUIRE(again.gaps.size() == 1);
    CHECK(again.gaps[0].count() == start - 3);
}

TEST_CASE("A visit sees the record in place, and tells when it was overwritten under the handler") {
    TestTopic topic;
    Producer producer(topic.broker, "t");
    Consumer consumer(topic.broker);
    consumer.assign("t");
    CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::empty);
    publish_numbers(producer, 0, 2);
    std::string seen;
    CHECK(consumer.visit([&](const ConsumerRecord& record) { seen = as_text(*record.value); }) == VisitStatus::valid);
    CHECK(seen == "0");
    CHECK(consumer.position("t", 0) == 1);
    CHECK(consumer.visit([&](const ConsumerRecord&) { publish_numbers(producer, 0, 300); }) == VisitStatus::lapped);
    CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::gap);
    CHECK(consumer.last_gap().from == 1);
    CHECK(consumer.last_gap().to == consumer.log_start("t", 0));
    CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::valid);
}

TEST_CASE("A poll is fair over its partitions: a flood in one does not starve the other") {
    TestTopic topic(2);
    Producer producer(topic.broker, "t");
    publish_numbers(producer, 0, 60, 0);
    publish_numbers(producer, 0, 5, 1);
    Consumer consumer(topic.broker);
    consumer.assign("t");
    std::size_t from_second = 0;
    const PollResult result = consumer.poll(20);
    for (const ConsumerRecord& record : result.records) from_second += record.partition;
    CHECK(result.records.size() == 20);
    CHECK(from_second == 5);
}

TEST_CASE("An open ticket in one partition is closed although another partition has records all the time") {
    TestTopic topic(2);
    Producer producer(topic.broker, "t");
    producer.attach(0);
    const TopicFiles files(topic.scratch.broker() / "topics" / "t", "t");
    const platform::Mapping mapping = files.map_partition(0, platform::Access::read_write);
    const partition_log::LogMemory<platform::HostMemory> log(mapping.data(), geometry_of(mapping), files.readers(0));
    (void)partition_log::Tickets<platform::HostMemory>(log, 1).take();  // a producer that never comes back
    REQUIRE(publish(producer, "behind it", 0) == Status::ok);
    Consumer consumer(topic.broker);
    consumer.assign("t");
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    bool seen = false;
    while (!seen && std::chrono::steady_clock::now() < give_up) {
        REQUIRE(publish(producer, "busy", 1) == Status::ok);
        for (const ConsumerRecord& record : consumer.poll().records) seen |= record.partition == 0;
    }
    CHECK(seen);
    CHECK(topic.broker.describe_topic("t").partitions[0].closed_tickets == 1);
}

TEST_CASE("A record that is larger than the consumer's buffer is delivered all the same") {
    TestTopic topic;
    Producer producer(topic.broker, "t");
    const std::string large(producer.record_bytes_max(), 'x');
    REQUIRE(publish(producer, "small") == Status::ok);
    REQUIRE(publish(producer, large) == Status::ok);
    ConsumerOptions options;
    options.buffer_bytes = 64;
    Consumer consumer(topic.broker, options);
    consumer.assign("t");
    CHECK(consumer.poll().records.size() == 1);
    const PollResult result = consumer.poll();
    REQUIRE(result.records.size() == 1);
    CHECK(as_text(*result.records[0].value) == large);
}

TEST_CASE("A waiting poll is woken by a record under every wait strategy, and ends at its timeout") {
    for (const WaitStrategy wait : {WaitStrategy::spin, WaitStrategy::yield, WaitStrategy::block}) {
        TestTopic topic(3);
        Producer producer(topic.broker, "t");
        ConsumerOptions options;
        options.wait = wait;
        Consumer consumer(topic.broker, options);
        consumer.assign("t");
        CHECK(consumer.poll(10, 5ms).records.empty());
        std::jthread later([&] {
            std::this_thread::sleep_for(20ms);
            (void)publish(producer, "wake", 2);
        });
        CHECK(consumer.poll(10, 30s).records.size() == 1);
    }
}

TEST_CASE("The descriptor is readable from a record until a poll finds nothing") {
    TestTopic topic(2);
    Producer producer(topic.broker, "t");
    Consumer consumer(topic.broker);
    consumer.assign("t");
    const int descriptor = consumer.descriptor();
    CHECK(consumer.descriptor() == descriptor);
    CHECK(consumer.poll().records.empty());
    CHECK_FALSE(readable(descriptor, 0));
    REQUIRE(publish(producer, "a", 1) == Status::ok);
    REQUIRE(publish(producer, "b", 1) == Status::ok);
    REQUIRE(readable(descriptor, 30'000));
    CHECK(consumer.poll(1).records.size() == 1);
    CHECK(readable(descriptor, 0));
    CHECK(consumer.poll(1).records.size() == 1);
    CHECK(consumer.poll(1).records.empty());
    CHECK_FALSE(readable(descriptor, 0));
    REQUIRE(publish(producer, "c", 0) == Status::ok);
    CHECK(readable(descriptor, 30'000));
    consumer.seek("t", 1, Position::earliest());
    CHECK(readable(descriptor, 0));
}

TEST_CASE("Deleting a topic wakes its sleeping consumers and tells them") {
    TestTopic topic;
    Consumer consumer(topic.broker);
    consumer.assign("t");
    std::jthread later([&] {
        std::this_thread::sleep_for(20ms);
        topic.broker.delete_topic("t");
    });
    const PollResult result = consumer.poll(10, 30s);
    CHECK(result.status == Status::topic_deleted);
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].topic == "t");
    CHECK(result.failures[0].status == Status::topic_deleted);
    CHECK(thrown_by([&] { return consumer.seek("t", 0, Position::earliest()); }).code == ErrorCode::not_found);
}

TEST_CASE("Seeking in a topic that was deleted since says so") {
    TestTopic topic;
    Consumer consumer(topic.broker);
    consumer.assign("t");
    topic.broker.delete_topic("t");
    CHECK(thrown_by([&] { return consumer.seek("t", 0, Position::earliest()); }).code == ErrorCode::topic_deleted);
}

TEST_CASE("A deleted topic is reported once, by name, and the records of the other topics keep coming") {
    TestTopic topic(2);
    topic.broker.create_topic("other", {.records = 64, .payload_bytes = 0, .producer_slots = 2});
    Producer producer(topic.broker, "other");
    Consumer consumer(topic.broker);
    consumer.assign("t");
    consumer.assign("other");
    topic.broker.delete_topic("t");
    SECTION("polled") {
        publish_numbers(producer, 0, 2);
        const PollResult result = consumer.poll();
        CHECK(result.status == Status::topic_deleted);
        CHECK(result.records.size() == 2);
        REQUIRE(result.failures.size() == 2);  // one of each partition
        for (const PartitionFailure& failure : result.failures) {
            CHECK(failure.topic == "t");
            CHECK(failure.status == Status::topic_deleted);
        }
        CHECK(result.failures[0].partition + result.failures[1].partition == 1);
    }
    SECTION("visited") {
        for (std::uint32_t partition = 0; partition < 2; ++partition) {
            CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::stopped);
            CHECK(consumer.last_status() == Status::topic_deleted);
            CHECK(consumer.last_failure().topic == "t");
            CHECK(consumer.last_failure().partition == partition);
        }
        CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::empty);
        publish_numbers(producer, 0, 2);
        CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::valid);
        CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::valid);
    }
    publish_numbers(producer, 2, 4);
    const PollResult later = consumer.poll();
    CHECK(later.status == Status::ok);
    CHECK(later.failures.empty());
    CHECK(later.records.size() == 2);
    CHECK(thrown_by([&] { return consumer.position("t", 0); }).code == ErrorCode::not_found);
}

TEST_CASE("Records that were read before a topic's deletion was noticed stay valid until the next poll") {
    TestTopic topic;
    Consumer consumer(topic.broker);
    {
        Producer producer(topic.broker, "t");
        publish_numbers(producer, 0, 1);
    }
    consumer.assign("t");
    const PollResult before = consumer.poll();
    REQUIRE(before.records.size() == 1);
    CHECK(before.records[0].topic == "t");
    topic.broker.delete_topic("t");
    CHECK(consumer.poll().status == Status::topic_deleted);
    CHECK(consumer.poll(10, 1ms).status == Status::ok);
}

TEST_CASE("An offset that no log can have is refused with the range") {
    TestTopic topic;
    Consumer consumer(topic.broker);
    for (const std::uint64_t offset : {kOffsetMax + 1, std::uint64_t{UINT64_MAX}}) {
        const auto assigned = thrown_by([&] { consumer.assign("t", Position::at(offset)); return 0; });
        CHECK(assigned.code == ErrorCode::invalid_argument);
        CHECK_THAT(assigned.text, test::contains(std::to_string(offset)) && test::contains(std::to_string(kOffsetMax)));
    }
    consumer.assign("t", Position::at(kOffsetMax));
    CHECK(consumer.poll().records.empty());
    CHECK(thrown_by([&] { return consumer.seek("t", 0, Position::at(kOffsetMax + 1)); }).code == ErrorCode::invalid_argument);
    CHECK(consumer.position("t", 0) == kOffsetMax);
}

TEST_CASE("A consumer assigned to a topic that was created anew reads the new one") {
    TestTopic topic;
    Consumer consumer(topic.broker);
    consumer.assign("t");
    topic.broker.delete_topic("t");
    topic.broker.create_topic("t");
    consumer.assign("t");
    Producer producer(topic.broker, "t");
    REQUIRE(publish(producer, "new") == Status::ok);
    CHECK(consumer.poll().records.size() == 1);
}

TEST_CASE("Assigning and seeking what does not exist names it") {
    TestTopic topic(2);
    Consumer consumer(topic.broker);
    CHECK(thrown_by([&] { consumer.assign("none"); return 0; }).code == ErrorCode::not_found);
    const auto partition = thrown_by([&] { consumer.assign("t", 2); return 0; });
    CHECK(partition.code == ErrorCode::not_found);
    CHECK_THAT(partition.text, test::contains("partition 2") && test::contains("0..1"));
    CHECK(thrown_by([&] { return consumer.position("t", 0); }).code == ErrorCode::not_found);
    consumer.assign("t");
    consumer.unassign("t", 0);
    CHECK(thrown_by([&] { return consumer.position("t", 0); }).code == ErrorCode::not_found);
    CHECK(consumer.position("t", 1) == 0);
    ConsumerOptions hasty;
    hasty.patience = 0ns;
    CHECK(thrown_by([&] { Consumer(topic.broker, hasty); }).code == ErrorCode::invalid_argument);
}

TEST_CASE("Gates are refused on overwrite topics, with long names, and beyond their number") {
    TestTopic topic;
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.when_full = WhenFull::block;
    topic.broker.create_topic("b", options);
    Consumer overwriting(topic.broker);
    overwriting.assign("t");
    CHECK(thrown_by([&] { overwriting.hold_gates("g"); return 0; }).code == ErrorCode::invalid_argument);
    std::vector<Consumer> holders;
    for (int i = 0; i < 17; ++i) {
        holders.emplace_back(topic.broker);
        holders.back().assign("b");
    }
    CHECK(thrown_by([&] { holders[0].hold_gates(std::string(64, 'g')); return 0; }).code == ErrorCode::invalid_argument);
    for (std::size_t i = 0; i < 16; ++i) holders[i].hold_gates("gate " + std::to_string(i));
    CHECK(thrown_by([&] { holders[16].hold_gates("g"); return 0; }).code == ErrorCode::limit);
    CHECK(topic.broker.describe_topic("b").partitions[0].gates.size() == 16);
    holders[3].drop_gates();
    holders[16].hold_gates("g");
}

TEST_CASE("Handles that were inherited through fork say so and leave the parent's alone") {
    TestTopic topic;
    Producer producer(topic.broker, "t");
    Consumer consumer(topic.broker);
    consumer.assign("t");
    Child child([&] {
        const bool refused = publish(producer, "x") == Status::forked && consumer.poll().status == Status::forked &&
                             producer.loan(10).status() == Status::forked;
        Broker own(topic.scratch.broker());
        Producer mine(own, "t");
        return refused && publish(mine, "child") == Status::ok ? 0 : 1;
    });
    CHECK(child.wait() == 0);
    CHECK(publish(producer, "parent") == Status::ok);
    CHECK(consumer.poll().records.size() == 2);
}
