// Family I: ring arithmetic, record sizes and counters.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;

namespace {

constexpr const char* kTopic = "events";

TopicOptions options_of(std::uint64_t records, std::uint64_t payload_bytes = 1 << 17) {
    TopicOptions options;
    options.records = records;
    options.producer_slots = 4;
    options.cell_bytes = 64;
    options.payload_bytes = payload_bytes;
    return options;
}

struct Place {
    test::ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};

    explicit Place(const TopicOptions& options) { (void)broker.create_topic(kTopic, options); }
    [[nodiscard]] PartitionDescription partition() const { return broker.describe_topic(kTopic).partitions.at(0); }
};

ProducerRecord record(const std::string& value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    record.partition = 0;
    return record;
}

std::string numbered(std::uint64_t number, std::size_t bytes) {
    std::string value(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i)
        value[i] = static_cast<char>(number * 131 + i * 7);
    return value;
}

// Publishes one record after the other and reads each back before the next.
void publish_and_compare(Producer& producer, Consumer& consumer, const std::string& value, std::uint64_t offset) {
    const PublishResult published = producer.publish(record(value));
    REQUIRE(published.status == Status::ok);
    REQUIRE(published.offset == offset);
    const PollResult result = consumer.poll(4, 1s);
    REQUIRE(result.records.size() == 1);
    REQUIRE(result.records[0].offset == offset);
    REQUIRE(std::string(as_text(*result.records[0].value)) == value);
}

}  // namespace

TEST_CASE("I01 I02 every record size crosses the end of the ring and of an extent at every remainder") {
    const std::uint64_t records = GENERATE(16ULL, 64ULL, 1024ULL);
    Place place(options_of(records));
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    std::uint64_t offset = 0;
    for (std::size_t bytes = 0; bytes <= 600; ++bytes) {
        publish_and_compare(producer, consumer, numbered(offset, bytes), offset);
        ++offset;
    }
    for (std::uint64_t i = 0; i < 3 * records; ++i) {
        publish_and_compare(producer, consumer, numbered(offset, offset * 37 % 601), offset);
        ++offset;
    }
}

TEST_CASE("I04 a batch longer than the ring is never waited for: it is published in runs or refused") {
    TopicOptions options = options_of(16);
    options.when_full = GENERATE(WhenFull::overwrite, WhenFull::block);
    Place place(options);
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    const bool gated = options.when_full == WhenFull::block;
    if (gated)
        consumer.hold_gates("reader");
    const std::vector<ProducerRecord> records(100, record("x"));
    const BatchResult result = producer.try_publish_batch(records);
    CHECK(result.status == (gated ? Status::would_block : Status::ok));
    CHECK(result.published == (gated ? 12 : 100));
    CHECK(place.partition().log_end == result.published);
}

TEST_CASE("I05 the largest record is accepted at every position, and one byte more never") {
    Place place(options_of(64));
    Producer producer(place.broker, kTopic);
    const std::size_t most = producer.record_bytes_max();
    const std::string over(most + 1, 'o');
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    std::uint64_t offset = 0;
    for (int round = 0; round < 200; ++round) {
        publish_and_compare(producer, consumer, numbered(offset, static_cast<std::size_t>(round) * 97 % 2000), offset);
        ++offset;
        publish_and_compare(producer, consumer, numbered(offset, most), offset);
        ++offset;
        REQUIRE(producer.publish(record(over)).status == Status::too_large);
        REQUIRE(place.partition().log_end == offset);
    }
}

TEST_CASE("I06 I07 offsets beyond 2^31, 2^32, 2^48 and 2^53 publish, read, seek and describe exactly") {
    const std::uint64_t around = GENERATE(1ULL << 31, 1ULL << 32, 1ULL << 48, 1ULL << 53, (1ULL << 61) - 1000);
    TopicOptions options = options_of(64);
    options.first_offset = around - 100;
    Place place(options);
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    for (std::uint64_t i = 0; i < 1000; ++i)
        publish_and_compare(producer, consumer, numbered(i, i % 100), around - 100 + i);
    const std::uint64_t end = around + 900;
    CHECK(consumer.position(kTopic, 0) == end);
    CHECK(consumer.log_end(kTopic, 0) == end);
    CHECK(place.partition().log_end == end);
    CHECK(consumer.seek(kTopic, 0, Position::at(end - 5)).offset == end - 5);
    const PollResult result = consumer.poll(16, 1s);
    REQUIRE(result.records.size() == 5);
    CHECK(result.records[0].offset == end - 5);
    CHECK(std::string(as_text(*result.records[4].value)) == numbered(999, 99));
    CHECK(consumer.seek(kTopic, 0, Position::last(10)).offset == end - 10);
}

TEST_CASE("I07 I10 a capacity that is no power of two or too small is refused with the limit, never adjusted") {
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    for (const std::uint64_t records : {0ULL, 1ULL, 8ULL, 15ULL, 17ULL, 1'000'000ULL}) {
        INFO(records);
        try {
            (void)broker.create_topic(kTopic, options_of(records));
            FAIL("accepted");
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::invalid_argument);
            CHECK_THAT(error.what(), test::contains(std::to_string(records)));
        }
    }
}

TEST_CASE("I09 I13 a full block topic refuses at once for every ring size, and loses nothing") {
    const unsigned power = GENERATE(4U, 5U, 6U, 8U, 9U, 12U, 16U);
    TopicOptions options = options_of(std::uint64_t{1} << power, 0);
    options.when_full = WhenFull::block;
    Place place(options);
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    consumer.hold_gates("reader");
    std::uint64_t published = 0;
    while (producer.try_publish(record(std::to_string(published))).status == Status::ok)
        ++published;
    CHECK(producer.try_publish(record("x")).status == Status::would_block);
    CHECK(published == place.broker.describe_topic(kTopic).retained_records);
    std::uint64_t next = 0;
    for (PollResult result = consumer.poll(); !result.records.empty(); result = consumer.poll()) {
        REQUIRE(result.gaps.empty());
        for (const ConsumerRecord& one : result.records)
            REQUIRE(as_text(*one.value) == std::to_string(next++));
    }
    CHECK(next == published);
    consumer.move_gates();
    CHECK(producer.try_publish(record("x")).status == Status::ok);
}

TEST_CASE("I10 the smallest topic carries ten thousand records back and forth") {
    TopicOptions options = options_of(kRecordsMin, 0);
    Place place(options);
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    for (std::uint64_t i = 0; i < 10'000; ++i)
        publish_and_compare(producer, consumer, numbered(i, 8), i);
}

TEST_CASE("I11 empty and null values, with and without key, are delivered once, also at the wrap") {
    Place place(options_of(16));
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    for (int i = 0; i < 1000; ++i) {
        ProducerRecord one;
        if (i % 2 == 0)
            one.value = as_bytes("");
        if (i % 3 == 0)
            one.key = as_bytes(i % 6 == 0 ? "" : "key");
        one.partition = 0;
        REQUIRE(producer.publish(one).status == Status::ok);
        const PollResult result = consumer.poll(4, 1s);
        REQUIRE(result.records.size() == 1);
        const ConsumerRecord& got = result.records[0];
        REQUIRE(got.value.has_value() == one.value.has_value());
        REQUIRE(got.key.has_value() == one.key.has_value());
        if (got.value)
            REQUIRE(got.value->empty());
        if (got.key)
            REQUIRE(as_text(*got.key) == as_text(*one.key));
    }
    CHECK(consumer.poll().records.empty());
}
