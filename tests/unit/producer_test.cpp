// The producer: what each call answers, and what is in the log afterwards.
#include "ringmain/producer.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ringmain/consumer.hpp"
#include "ringmain/partitioner.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

struct TestTopic {
    explicit TestTopic(TopicOptions options) {
        options.records = std::min<std::uint64_t>(options.records, 256);
        options.producer_slots = 4;
        broker.create_topic("t", options);
    }
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
};

TopicOptions with_partitions(std::uint32_t count) {
    TopicOptions options;
    options.partitions = count;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    return options;
}

TopicOptions small_payload() { return with_partitions(1); }

ProducerRecord text(std::string_view value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    return record;
}

/// Everything in the topic, as text, in offset order per partition.
std::vector<std::string> everything(const Broker& broker) {
    Consumer consumer(broker);
    consumer.assign("t");
    std::vector<std::string> values;
    for (PollResult result = consumer.poll(); !result.records.empty(); result = consumer.poll()) {
        for (const ConsumerRecord& record : result.records) values.emplace_back(as_text(record.value.value_or(Bytes{})));
    }
    return values;
}

}  // namespace

TEST_CASE("A producer keeps null and empty keys and values apart, and headers in order") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    const Header headers[] = {{"a", as_bytes("1")}, {"a", std::nullopt}, {"", Bytes{}}};
    ProducerRecord record;
    record.headers = headers;
    REQUIRE(producer.publish(record).status == Status::ok);
    record = {};
    record.key = Bytes{};
    record.value = Bytes{};
    REQUIRE(producer.publish(record).status == Status::ok);

    Consumer consumer(topic.broker);
    consumer.assign("t");
    const PollResult result = consumer.poll();
    REQUIRE(result.records.size() == 2);
    CHECK_FALSE(result.records[0].key);
    CHECK_FALSE(result.records[0].value);
    REQUIRE(result.records[0].headers.size() == 3);
    auto header = result.records[0].headers.begin();
    CHECK(header->name == "a");
    CHECK(as_text(*header->value) == "1");
    CHECK_FALSE((++header)->value);
    CHECK((++header)->name.empty());
    CHECK(header->value->empty());
    CHECK(++header == result.records[0].headers.end());
    CHECK(result.records[0].headers.find("a")->value->size() == 1);
    REQUIRE(result.records[1].key);
    REQUIRE(result.records[1].value);
    CHECK(result.records[1].key->empty());
    CHECK(result.records[1].value->empty());
    CHECK(result.records[1].headers.empty());
}

TEST_CASE("A producer chooses the partition by number, by key, or in turn") {
    TestTopic topic(with_partitions(3));
    Producer producer(topic.broker, "t");
    ProducerRecord record = text("x");
    record.partition = 2;
    CHECK(producer.publish(record).partition == 2);
    record.partition = 3;
    CHECK(producer.publish(record).status == Status::invalid);
    record.partition.reset();
    record.key = as_bytes("kafka");
    CHECK(producer.publish(record).partition == partition_for_key(as_bytes("kafka"), 3));
    record.key.reset();
    const std::uint32_t first = producer.publish(record).partition;
    CHECK(producer.publish(record).partition == (first + 1) % 3);
    CHECK(producer.publish(record).partition == (first + 2) % 3);
}

TEST_CASE("A record of exactly the largest size is published, one byte more is refused and reserves nothing") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    const std::string most(producer.record_bytes_max(), 'm');
    REQUIRE(producer.publish(text(most)).status == Status::ok);
    CHECK(producer.publish(text(most + "x")).status == Status::too_large);
    ProducerRecord keyed = text(most);
    keyed.key = as_bytes("k");
    CHECK(producer.publish(keyed).status == Status::too_large);
    keyed.value = Bytes{};
    const std::string long_key(kKeyBytesMax + 1, 'k');
    keyed.key = as_bytes(long_key);
    CHECK(producer.publish(keyed).status == Status::too_large);
    CHECK(producer.publish(text("next")).offset == 1);
    CHECK(everything(topic.broker) == std::vector<std::string>{most, "next"});
}

TEST_CASE("A batch keeps its order in every partition and says what became of each record") {
    TestTopic topic(with_partitions(2));
    Producer producer(topic.broker, "t");
    std::vector<std::string> values;
    for (int i = 0; i < 50; ++i) values.push_back(std::to_string(i));
    std::vector<ProducerRecord> records;
    for (int i = 0; i < 50; ++i) {
        records.push_back(text(values[static_cast<std::size_t>(i)]));
        records.back().partition = static_cast<std::uint32_t>(i % 2);
    }
    std::vector<PublishResult> results(records.size());
    const BatchResult batch = producer.publish_batch(records, results);
    CHECK(batch.status == Status::ok);
    CHECK(batch.published == 50);
    for (std::size_t i = 0; i < results.size(); ++i) {
        CHECK(results[i].status == Status::ok);
        CHECK(results[i].partition == i % 2);
        CHECK(results[i].offset == i / 2);
    }
    Consumer consumer(topic.broker);
    consumer.assign("t", 1);
    const PollResult result = consumer.poll();
    REQUIRE(result.records.size() == 25);
    for (std::size_t i = 0; i < 25; ++i) CHECK(as_text(*result.records[i].value) == values[2 * i + 1]);
}

TEST_CASE("Null keys of one batch go to one partition, and the next batch to the next") {
    TestTopic topic(with_partitions(4));
    Producer producer(topic.broker, "t");
    const std::vector<ProducerRecord> records(5, text("x"));
    std::vector<PublishResult> results(5);
    REQUIRE(producer.publish_batch(records, results).status == Status::ok);
    const std::uint32_t first = results[0].partition;
    for (const PublishResult& result : results) CHECK(result.partition == first);
    REQUIRE(producer.publish_batch(records, results).status == Status::ok);
    CHECK(results[0].partition == (first + 1) % 4);
}

TEST_CASE("A batch with a bad record publishes nothing, and only the bad record is called bad") {
    TopicOptions options = small_payload();
    options.partitions = 2;
    TestTopic topic(options);
    Producer producer(topic.broker, "t");
    const std::string huge(producer.record_bytes_max() + 1, 'x');
    const std::string long_name(65'536, 'n');
    const Header bad_header[] = {{long_name, std::nullopt}};
    std::vector<ProducerRecord> records(6, text("good"));
    for (std::size_t i = 0; i < records.size(); ++i) records[i].partition = static_cast<std::uint32_t>(i % 2);
    Status expected = Status::invalid;
    SECTION("too large") {
        records[3].value = as_bytes(huge);
        expected = Status::too_large;
    }
    SECTION("a partition that is not there") { records[3].partition = 2; }
    SECTION("a header that cannot be") { records[3].headers = bad_header; }
    std::vector<PublishResult> results(records.size());
    const BatchResult batch = producer.publish_batch(records, results);
    CHECK(batch.status == expected);
    CHECK(batch.published == 0);
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(results[i].status == (i == 3 ? expected : Status::not_attempted));
    CHECK(everything(topic.broker).empty());
    records[3] = text("good");
    CHECK(producer.publish_batch(records).published == records.size());
}

TEST_CASE("A batch whose results are of another length is refused as a whole") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    const ProducerRecord records[] = {text("a"), text("b"), text("c")};
    PublishResult results[2];
    CHECK(producer.publish_batch(records, results).status == Status::invalid);
    CHECK(everything(topic.broker).empty());
}

TEST_CASE("A batch that meets a full partition says which records wait and which were not tried") {
    TopicOptions options = with_partitions(2);
    options.when_full = WhenFull::block;
    TestTopic topic(options);
    Producer producer(topic.broker, "t");
    Consumer reader(topic.broker);
    reader.assign("t");
    reader.hold_gates("reader");
    ProducerRecord filler = text("x");
    filler.partition = 0;
    while (producer.try_publish(filler).status == Status::ok) {}
    std::vector<ProducerRecord> records(4, text("y"));
    for (std::size_t i = 0; i < records.size(); ++i) records[i].partition = static_cast<std::uint32_t>(i / 2);
    std::vector<PublishResult> results(records.size());
    CHECK(producer.try_publish_batch(records, results).status == Status::would_block);
    CHECK(results[0].status == Status::would_block);
    CHECK(results[1].status == Status::would_block);
    CHECK(results[2].status == Status::not_attempted);
    CHECK(results[2].partition == 1);
}

TEST_CASE("A batch larger than one reservation and than one extent arrives whole and in order") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    std::vector<std::string> values;
    for (int i = 0; i < 60; ++i) values.push_back(std::string(100 + static_cast<std::size_t>(i) * 11, static_cast<char>('a' + i % 26)));
    std::vector<ProducerRecord> records;
    for (const std::string& value : values) records.push_back(text(value));
    REQUIRE(records.size() > producer.batch_records_max());
    REQUIRE(producer.publish_batch(records).published == values.size());
    CHECK(everything(topic.broker) == values);
}

TEST_CASE("A loan is published without holding anything up while it is filled") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, std::size_t{40}, std::size_t{41}, std::size_t{1000}}) {
        ProducerRecord about;
        about.key = as_bytes("k");
        about.timestamp_ns = 77;
        Loan loan = producer.loan(bytes, about);
        REQUIRE(loan.status() == Status::ok);
        REQUIRE(loan.value().size() == bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(loan.value().data()) % 8 == 0);
        CHECK(producer.publish(text("meanwhile")).status == Status::ok);
        CHECK(producer.loan(1).status() == Status::loan_outstanding);
        if (bytes != 0) std::memset(loan.value().data(), 'L', bytes);
        const PublishResult result = producer.publish(loan);
        REQUIRE(result.status == Status::ok);
        CHECK(producer.publish(loan).status == Status::invalid);
        Consumer consumer(topic.broker);
        consumer.assign("t", 0, Position::at(result.offset));
        const PollResult read = consumer.poll(1);
        REQUIRE(read.records.size() == 1);
        CHECK(as_text(*read.records[0].value) == std::string(bytes, 'L'));
        CHECK(as_text(*read.records[0].key) == "k");
        CHECK(read.records[0].timestamp_ns == 77);
    }
}

TEST_CASE("A loan that is dropped gives its memory back and leaves no offset behind") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    const std::size_t most = producer.record_bytes_max();
    for (int i = 0; i < 100; ++i) {
        const Loan loan = producer.loan(most);
        REQUIRE(loan.status() == Status::ok);
    }
    CHECK(producer.publish(text("first")).offset == 0);
    CHECK(producer.loan(most + 1).status() == Status::too_large);
}

TEST_CASE("While a loan pins the extent, a large record that needs another one is told so") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    Loan loan = producer.loan(producer.record_bytes_max());
    REQUIRE(loan.status() == Status::ok);
    CHECK(producer.publish(text(std::string(100, 'x'))).status == Status::loan_outstanding);
    CHECK(producer.publish(text("inline")).status == Status::ok);
    CHECK(producer.publish(loan).status == Status::ok);
    CHECK(producer.publish(text(std::string(100, 'x'))).status == Status::ok);
}

TEST_CASE("On a full block topic try_publish answers at once, publish after its timeout, and both name the gate") {
    TopicOptions options = small_payload();
    options.when_full = WhenFull::block;
    TestTopic topic(options);
    ProducerOptions patient;
    patient.timeout = std::chrono::milliseconds(20);
    Producer producer(topic.broker, "t", patient);
    Consumer consumer(topic.broker);
    consumer.assign("t");
    consumer.hold_gates("slow reader");
    std::uint64_t published = 0;
    while (producer.try_publish(text("x")).status == Status::ok) ++published;
    CHECK(published == topic.broker.describe_topic("t").retained_records);
    CHECK(producer.publish(text("x")).status == Status::would_block);
    REQUIRE(producer.blocking_gate(0));
    CHECK(producer.blocking_gate(0)->name == "slow reader");
    CHECK(producer.blocking_gate(0)->offset == 0);
    REQUIRE(consumer.poll(10).records.size() == 10);
    CHECK(producer.try_publish(text("x")).status == Status::would_block);
    consumer.move_gates();
    CHECK(producer.try_publish(text("x")).offset == published);
}

TEST_CASE("A publish that waits on a full block topic goes on when the gate moves") {
    TopicOptions options = small_payload();
    options.when_full = WhenFull::block;
    TestTopic topic(options);
    Producer producer(topic.broker, "t");
    Consumer consumer(topic.broker);
    consumer.assign("t");
    consumer.hold_gates("g");
    while (producer.try_publish(text("x")).status == Status::ok) {
    }
    std::jthread reader([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        (void)consumer.poll(50);
        consumer.move_gates();
    });
    CHECK(producer.publish(text("waited")).status == Status::ok);
}

TEST_CASE("Exclusive and shared producers refuse each other and say who is in the way") {
    TestTopic topic(small_payload());
    ProducerOptions exclusive;
    exclusive.exclusive = true;
    {
        const Producer shared(topic.broker, "t");
        CHECK(thrown_by([&] { Producer(topic.broker, "t", exclusive); }).code == ErrorCode::busy);
    }
    Producer alone(topic.broker, "t", exclusive);
    CHECK(thrown_by([&] { Producer(topic.broker, "t"); }).code == ErrorCode::busy);
    CHECK(thrown_by([&] { Producer(topic.broker, "t", exclusive); }).code == ErrorCode::busy);
    for (int i = 0; i < 1000; ++i) REQUIRE(alone.publish(text("x")).offset == static_cast<std::uint64_t>(i));
    const std::vector<ProducerRecord> batch(100, text("y"));
    CHECK(alone.publish_batch(batch).published == 100);
    CHECK(topic.broker.describe_topic("t").partitions[0].log_end == 1100);
}

TEST_CASE("When every slot belongs to a live producer the next one is refused with the limit") {
    TestTopic topic(small_payload());
    std::vector<Producer> producers;
    for (int i = 0; i < 4; ++i) producers.emplace_back(topic.broker, "t");
    const auto refused = thrown_by([&] { Producer(topic.broker, "t"); });
    CHECK(refused.code == ErrorCode::limit);
    CHECK_THAT(refused.text, test::contains("4"));
    producers.pop_back();
    CHECK(Producer(topic.broker, "t").publish(text("x")).status == Status::ok);
}

TEST_CASE("A producer of a topic that is deleted or created anew answers topic_deleted") {
    TestTopic topic(small_payload());
    Producer producer(topic.broker, "t");
    REQUIRE(producer.publish(text("x")).status == Status::ok);
    topic.broker.delete_topic("t");
    CHECK(producer.publish(text("x")).status == Status::topic_deleted);
    topic.broker.create_topic("t");
    CHECK(producer.publish(text("x")).status == Status::topic_deleted);
    CHECK(everything(topic.broker).empty());
}
