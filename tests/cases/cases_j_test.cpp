// Clocks and timestamps: producer time is data, never control.
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>

#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/kept_partition.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::KeptPartition;
using test::ScratchDirectory;

namespace {

struct Topic {
    ScratchDirectory directory;
    Broker broker{directory.broker(), Broker::Mode::open_or_create};

    explicit Topic(const Retention& retention = {}) {
        TopicOptions options;
        options.retention = retention;
        options.records = 4096;
        options.producer_slots = 2;
        options.payload_bytes = 0;
        broker.create_topic("clock", options);
    }
    void publish(std::int64_t timestamp_ns) {
        Producer producer(broker, "clock");
        ProducerRecord record;
        record.value = as_bytes("x");
        record.timestamp_ns = timestamp_ns;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
    [[nodiscard]] PartitionDescription partition() const { return broker.describe_topic("clock").partitions[0]; }
};

std::int64_t hours_from_now(int hours) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count() +
           std::chrono::nanoseconds(std::chrono::hours(hours)).count();
}

}  // namespace

TEST_CASE("J01 A timestamp in seconds is kept as it is, and its record is not deleted for it") {
    Topic topic;
    const auto seconds = static_cast<std::int64_t>(std::time(nullptr));
    topic.publish(seconds);
    Keeper keeper(topic.broker);
    for (int hour = 0; hour < 1000; ++hour)
        keeper.do_work(std::chrono::hours(hour));
    Consumer consumer(topic.broker);
    consumer.assign("clock");
    const PollResult result = consumer.poll();
    REQUIRE(result.records.size() == 1);
    CHECK(result.records[0].timestamp_ns == seconds);
    CHECK(result.gaps.empty());
}

TEST_CASE("J01 With an age of retention a record goes when it is old, whatever its timestamp says") {
    Topic topic({10s, 0, 0});
    const std::int64_t stamp = GENERATE(static_cast<std::int64_t>(std::time(nullptr)), std::int64_t{0}, INT64_MIN, INT64_MAX,
                                        hours_from_now(-24 * 365), hours_from_now(24 * 365));
    topic.publish(stamp);
    KeptPartition kept(topic.broker, "clock");
    CHECK(kept.run(9'900ms) == 0);
    CHECK(kept.run(200ms) == 1);
}

TEST_CASE("J03 A wall clock that steps back between records neither hurries retention nor stops it") {
    Topic topic({10s, 0, 0});
    KeptPartition kept(topic.broker, "clock");
    for (const int hour : {0, -1, -2, 1, -24}) {
        topic.publish(hours_from_now(hour));
        kept.run(1s);
    }
    CHECK(topic.partition().log_start == 0);
    CHECK(kept.run(4'900ms) == 0);
    for (std::uint64_t offset = 1; offset <= 5; ++offset) {
        kept.run(1s);
        CHECK(topic.partition().log_start == offset);
    }
}

TEST_CASE("J07 A deletion is never later than the bound that describe prints") {
    const auto age = GENERATE(500ms, 10'000ms, 60'000ms);
    Topic topic({age, 0, 0});
    KeptPartition kept(topic.broker, "clock");
    const std::chrono::milliseconds bound = std::max(1000ms, age / 100);
    // where the log ended, every tenth of the bound
    std::vector<std::uint64_t> ends;
    const auto tick = bound / 10;
    for (std::chrono::milliseconds now{0}; now < 2 * age + 2 * bound; now += tick) {
        topic.publish(1);
        ends.push_back(topic.partition().log_end);
        kept.run(tick);
        const auto late = static_cast<std::size_t>((age + bound) / tick);
        const auto early = static_cast<std::size_t>(age / tick);
        if (ends.size() > late) REQUIRE(topic.partition().log_start >= ends[ends.size() - 1 - late]);
        if (ends.size() <= early) REQUIRE(topic.partition().log_start == 0);
    }
    CHECK(topic.partition().log_start > 0);
}

TEST_CASE("J08 The last record of a topic expires too, and its reader is told") {
    Topic topic({2s, 0, 0});
    KeptPartition kept(topic.broker, "clock");
    topic.publish(1);
    Consumer consumer(topic.broker);
    consumer.assign("clock");
    CHECK(kept.run(1'990ms) == 0);
    CHECK(kept.run(1s) == 1);
    CHECK(topic.partition().log_start == 1);
    CHECK(topic.partition().log_end == 1);
    const PollResult result = consumer.poll();
    CHECK(result.records.empty());
    REQUIRE(result.gaps.size() == 1);
    CHECK(result.gaps[0].from == 0);
    CHECK(result.gaps[0].to == 1);
}

TEST_CASE("J08 With a keeper that runs by the machine's own clock, too") {
    Topic topic({200ms, 0, 0});
    topic.publish(hours_from_now(24));
    Keeper keeper(topic.broker);
    std::jthread running([&](const std::stop_token& stop) { keeper.run(stop); });
    for (int i = 0; i < 3000 && topic.partition().log_start == 0; ++i) std::this_thread::sleep_for(10ms);
    CHECK(topic.partition().log_start == 1);
    CHECK(topic.partition().log_end == 1);
}

TEST_CASE("J09 A second pass of all rules at the same moment deletes nothing") {
    Topic topic({1s, 20, 30});
    KeptPartition kept(topic.broker, "clock");
    for (int i = 0; i < 50; ++i) {
        topic.publish(1);
        kept.run(100ms);
        const std::uint64_t start = topic.partition().log_start;
        (void)kept.step();
        if (i % 10 == 0) kept.restart();
        (void)kept.step();
        REQUIRE(topic.partition().log_start == start);
    }
    CHECK(topic.partition().log_start > 30);
}

TEST_CASE("J05 Seek by time: between, before, after, empty") {
    Topic topic;
    Consumer consumer(topic.broker);
    consumer.assign("clock");
    const SeekResult empty = consumer.seek("clock", 0, Position::since(5));
    CHECK(empty.offset == 0);
    CHECK(empty.at_end);

    for (const std::int64_t time_ns : {10, 20, 30})
        topic.publish(time_ns);
    struct Row {
        std::int64_t time_ns;
        std::uint64_t offset;
    };
    for (const Row row : {Row{0, 0}, Row{10, 0}, Row{15, 1}, Row{20, 1}, Row{30, 2}, Row{31, 3}}) {
        CAPTURE(row.time_ns);
        const SeekResult found = consumer.seek("clock", 0, Position::since(row.time_ns));
        CHECK(found.offset == row.offset);
        CHECK(found.at_end == (row.offset == 3));
    }
    // after the last record: the next one published is the next one read
    CHECK(consumer.poll().records.empty());
    topic.publish(40);
    const PollResult next = consumer.poll();
    REQUIRE(next.records.size() == 1);
    CHECK(next.records[0].offset == 3);
}

TEST_CASE("J11 A keeper whose monotonic time goes back neither stops nor hurries") {
    Topic topic;
    topic.publish(1);
    Keeper keeper(topic.broker);
    for (const int ms : {1000, 999, 0, -5, 1'000'000, 1}) {
        const KeeperReport report = keeper.do_work(std::chrono::milliseconds(ms));
        CHECK(report.idle());
    }
    const TopicDescription description = topic.broker.describe_topic("clock");
    CHECK(description.partitions[0].log_start == 0);
    CHECK(description.partitions[0].log_end == 1);
}
