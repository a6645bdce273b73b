// What `describe` promises to keep is kept: by cells and by payload memory.
#include <algorithm>
#include <string>
#include <vector>

#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;

namespace {

constexpr std::uint32_t kSlots = 4;

TopicDescription create(Broker& broker, WhenFull when_full) {
    TopicOptions options;
    options.records = 1024;
    options.producer_slots = kSlots;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    options.when_full = when_full;
    return broker.create_topic("t", options);
}

ProducerRecord text(const std::string& value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    return record;
}

std::uint64_t kept(const Broker& broker) {
    const PartitionDescription partition = broker.describe_topic("t").partitions[0];
    return partition.log_end - partition.log_start;
}

/// Records of `bytes` bytes that the figure speaks of: each is rounded up, and an extent's end may stay unused.
std::uint64_t promised(const TopicDescription& topic, std::uint64_t bytes) {
    const std::uint64_t extent = topic.record_bytes_max;
    return topic.retained_payload_bytes / extent * (extent / ((bytes + 63) / 64 * 64));
}

}  // namespace

TEST_CASE("An overwrite partition keeps the records that describe promises, of any size and from any number of producers") {
    test::TestBroker place;
    const TopicDescription topic = create(place.broker, WhenFull::overwrite);
    const std::size_t bytes = GENERATE(std::size_t{41}, std::size_t{64}, std::size_t{1000}, std::size_t{5000}, std::size_t{8192});
    const std::uint32_t count = GENERATE(1U, 2U, kSlots);
    INFO(bytes << " bytes, " << count << " producers");
    std::vector<Producer> producers;
    for (std::uint32_t i = 0; i < count; ++i) producers.emplace_back(place.broker, "t");
    const std::string value(bytes, 'x');
    std::uint64_t least = UINT64_MAX;
    for (std::uint64_t i = 0; i < 6000; ++i) {
        REQUIRE(producers[i % count].publish(text(value)).status == Status::ok);
        if (i > 3000) least = std::min(least, kept(place.broker));
    }
    CHECK(topic.retained_payload_bytes == topic.options.payload_bytes / 2);
    CHECK(least >= std::min(topic.retained_records, promised(topic, bytes)));
    if (bytes > 64) CHECK(least < topic.retained_records);  // by the cells alone it would be a lie
}

TEST_CASE("Inline records are kept as the cells promise") {
    test::TestBroker place;
    const TopicDescription topic = create(place.broker, WhenFull::overwrite);
    Producer producer(place.broker, "t");
    const std::string value(topic.inline_bytes_max, 'x');
    std::uint64_t least = UINT64_MAX;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        REQUIRE(producer.publish(text(value)).status == Status::ok);
        if (i > 2000) least = std::min(least, kept(place.broker));
    }
    CHECK(least >= topic.retained_records);
}

TEST_CASE("A gated block partition takes the large records that describe promises before it is full") {
    test::TestBroker place;
    const TopicDescription topic = create(place.broker, WhenFull::block);
    const std::size_t bytes = GENERATE(std::size_t{41}, std::size_t{1000}, std::size_t{8192});
    const std::uint32_t count = GENERATE(1U, kSlots);
    Consumer reader(place.broker);
    reader.hold_gates("reader");
    reader.assign("t");
    std::vector<Producer> producers;
    for (std::uint32_t i = 0; i < count; ++i) producers.emplace_back(place.broker, "t");
    const std::string value(bytes, 'x');
    std::uint64_t published = 0;
    while (producers[published % count].try_publish(text(value)).status == Status::ok) ++published;
    CHECK(published >= std::min(topic.retained_records, promised(topic, bytes)));
    CHECK(place.broker.describe_topic("t").partitions[0].log_start == 0);
}
