// Clocks and timestamps: producer time is data, never control.
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using test::ScratchDirectory;

namespace {

struct Topic {
    ScratchDirectory directory;
    Broker broker{directory.broker(), Broker::Mode::open_or_create};

    Topic() {
        TopicOptions options;
        options.records = 64;
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
};

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
