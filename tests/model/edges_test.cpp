// Edges that random sequences found, each by itself.
#include <string>
#include <vector>

#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

namespace {

struct Small {
    ScratchDirectory directory;
    Broker broker{directory.broker(), Broker::Mode::open_or_create};

    explicit Small(std::uint64_t payload_bytes, std::uint64_t records = 16, std::uint32_t producer_slots = 4) {
        TopicOptions options;
        options.records = records;
        options.producer_slots = producer_slots;
        options.payload_bytes = payload_bytes;
        broker.create_topic("edges", options);
    }
};

std::vector<ProducerRecord> records_of(const std::string& value, std::size_t count) {
    ProducerRecord record;
    record.value = as_bytes(value);
    return std::vector<ProducerRecord>(count, record);
}

}  // namespace

TEST_CASE("A batch of many laps is published whole") {
    Small small(0);
    Producer producer(small.broker, "edges");
    const std::string value = "batch";
    const BatchResult result = producer.publish_batch(records_of(value, 200));
    CHECK(result.status == Status::ok);
    CHECK(result.published == 200);
}

TEST_CASE("An exclusive batch of large records takes its own extents again") {
    Small small(1 << 16, 64, 1);
    Producer producer(small.broker, "edges", ProducerOptions{.exclusive = true});
    const std::string value(20'000, 'x');  // more than half of one of the two extents: every record changes it
    const BatchResult result = producer.publish_batch(records_of(value, 100));
    CHECK(result.status == Status::ok);
    CHECK(result.published == 100);
}

TEST_CASE("A visitor gets past records whose memory was given up before their cells were") {
    Small small(1 << 16);
    Producer producer(small.broker, "edges");
    Consumer consumer(small.broker);
    consumer.assign("edges");
    const std::string value(5000, 'x');
    for (int i = 0; i < 10; ++i)
        CHECK(producer.publish(records_of(value, 1).front()).status == Status::ok);
    REQUIRE(consumer.log_start("edges", 0) > 0);  // 8 extents, one record each: two were taken again
    int steps = 0;
    VisitStatus status = VisitStatus::lapped;
    while (status != VisitStatus::empty && ++steps < 50)
        status = consumer.visit([](const ConsumerRecord&) {});
    CHECK(status == VisitStatus::empty);
    CHECK(consumer.position("edges", 0) == 10);
}

}  // namespace ringmain::test
