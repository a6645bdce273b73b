// Offsets in shared memory that contradict each other: everybody says corrupt, and nobody moves anything by them.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "partition_log/log_memory.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"
#include "topic_files.hpp"

namespace ringmain::test {

namespace {

constexpr std::uint64_t kRecords = 64;
constexpr std::uint64_t kPublished = 200;  // some laps

ProducerRecord text(const std::string& value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    return record;
}

/// A topic with some laps of records, and its shared words.
class Victim {
public:
    explicit Victim(WhenFull when_full) {
        TopicOptions options;
        options.records = kRecords;
        options.producer_slots = 2;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 16;
        options.when_full = when_full;
        place.broker.create_topic("t", options);
        files.emplace(place.scratch.broker() / "topics" / "t", "t");
        mapping = files->map_partition(0, platform::Access::read_write);
        log = partition_log::LogMemory<platform::HostMemory>(mapping.data(), geometry_of(mapping), files->readers(0));
        Producer producer(place.broker, "t");
        for (std::uint64_t i = 0; i < kPublished; ++i) REQUIRE(producer.publish(text(std::to_string(i))).status == Status::ok);
        end = log_end();
        start = log_start();
    }

    [[nodiscard]] std::uint64_t log_end() const { return log.control->log_end.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t log_start() const { return log.control->log_start.load(std::memory_order_acquire); }
    void set_end(std::uint64_t to) const { log.control->log_end.store(to, std::memory_order_release); }
    void set_start(std::uint64_t to) const { log.control->log_start.store(to, std::memory_order_release); }

    /// Everything is readable as if nothing had happened, once the words are as they were.
    void check_unharmed() {
        CHECK(log.control->closings.load(std::memory_order_relaxed) == 0);
        set_end(end);
        set_start(start);
        Consumer consumer(place.broker);
        consumer.assign("t");
        std::uint64_t next = start;
        for (PollResult result = consumer.poll(); !result.records.empty(); result = consumer.poll()) {
            CHECK(result.gaps.empty());
            for (const ConsumerRecord& record : result.records) {
                CHECK(record.offset == next);
                CHECK(as_text(*record.value) == std::to_string(next));
                ++next;
            }
        }
        CHECK(next == end);
        CHECK(place.broker.verify("t").damage.empty());
    }

    TestBroker place;
    std::optional<TopicFiles> files;
    platform::Mapping mapping;
    partition_log::LogMemory<platform::HostMemory> log;
    std::uint64_t end = 0;
    std::uint64_t start = 0;
};

}  // namespace

TEST_CASE("Nobody attaches to a partition whose log end contradicts its log start") {
    Victim victim(GENERATE(WhenFull::overwrite, WhenFull::block));
    const bool exclusive = GENERATE(false, true);
    const std::uint64_t to = GENERATE(std::uint64_t{0}, std::uint64_t{5}, kPublished + kRecords, kPublished + 1'000'000,
                                      std::uint64_t{1} << 40, std::uint64_t{1} << 61, kOffsetMax, UINT64_MAX);
    INFO("log end " << to << (exclusive ? ", exclusive" : ", shared"));
    victim.set_end(to);
    const Thrown producer = thrown_by([&] { return Producer(victim.place.broker, "t", {.exclusive = exclusive}); });
    CHECK(producer.code == ErrorCode::corrupt);
    CHECK_THAT(producer.text, contains("log end " + std::to_string(to)) || contains(", " + std::to_string(to) + "]"));
    Consumer consumer(victim.place.broker);
    CHECK(thrown_by([&] { consumer.assign("t"); return 0; }).code == ErrorCode::corrupt);
    CHECK_FALSE(victim.place.broker.verify("t").damage.empty());
    Keeper keeper(victim.place.broker);
    for (int i = 0; i < 5; ++i) (void)keeper.do_work(std::chrono::seconds(i));
    CHECK(victim.log_end() == to);
    CHECK(victim.log_start() == victim.start);
    victim.check_unharmed();
    // the refused ones hold nothing
    CHECK(victim.place.broker.describe_topic("t").partitions[0].producers.empty());
    Producer again(victim.place.broker, "t", {.exclusive = exclusive});
    CHECK(again.publish(text("x")).offset == victim.end);
}

TEST_CASE("Nobody attaches to a partition whose log end was set back under its records") {
    Victim victim(GENERATE(WhenFull::overwrite, WhenFull::block));
    const bool exclusive = GENERATE(false, true);
    victim.set_end(victim.end - GENERATE(1, 2, 30));
    const Thrown refused = thrown_by([&] { return Producer(victim.place.broker, "t", {.exclusive = exclusive}); });
    CHECK(refused.code == ErrorCode::corrupt);
    CHECK_THAT(refused.text, contains("cells beyond its log end"));
    victim.check_unharmed();
}

TEST_CASE("Nobody attaches to a partition whose log start was moved out of the log") {
    Victim victim(GENERATE(WhenFull::overwrite, WhenFull::block));
    const bool exclusive = GENERATE(false, true);
    victim.set_start(GENERATE(std::uint64_t{0}, kPublished + 1, std::uint64_t{1} << 50, UINT64_MAX));
    CHECK(thrown_by([&] { return Producer(victim.place.broker, "t", {.exclusive = exclusive}); }).code == ErrorCode::corrupt);
    Consumer consumer(victim.place.broker);
    CHECK(thrown_by([&] { consumer.assign("t"); return 0; }).code == ErrorCode::corrupt);
    victim.check_unharmed();
}

TEST_CASE("An attached producer whose log end is damaged answers corrupt and leaves the records") {
    Victim victim(GENERATE(WhenFull::overwrite, WhenFull::block));
    Producer producer(victim.place.broker, "t");
    const std::uint64_t to = GENERATE(kPublished + 1'000'000, std::uint64_t{1} << 40, std::uint64_t{1} << 61);
    const bool batch = GENERATE(false, true);
    const bool large = GENERATE(false, true);
    INFO("log end " << to << (batch ? ", batch" : ", single") << (large ? ", large" : ", small"));
    const std::string value(large ? 1000 : 5, 'x');
    const std::vector<ProducerRecord> records(5, text(value));
    victim.set_end(to);
    for (int i = 0; i < 3; ++i)
        CHECK((batch ? producer.publish_batch(records).status : producer.publish(records[0]).status) == Status::corrupt);
    CHECK(victim.log_start() == victim.start);
    victim.check_unharmed();
    CHECK(producer.publish(records[0]).status == Status::ok);  // put right, it goes on
}

TEST_CASE("An exclusive producer of a full block topic whose log end is damaged answers corrupt") {
    Victim victim(WhenFull::block);
    Producer producer(victim.place.broker, "t", {.exclusive = true});
    victim.set_end(kPublished + 1'000'000);
    CHECK(producer.publish(text("x")).status == Status::corrupt);
    CHECK(victim.log_start() == victim.start);
    victim.check_unharmed();
}

TEST_CASE("A reader at the end of a log whose log end is damaged says corrupt and closes nothing") {
    Victim victim(GENERATE(WhenFull::overwrite, WhenFull::block));
    Consumer consumer(victim.place.broker, {.patience = std::chrono::microseconds(1)});
    consumer.assign("t", Position::latest());
    CHECK(consumer.poll().status == Status::ok);
    victim.set_end(kPublished + 1'000'000);
    const PollResult result = consumer.poll(16, std::chrono::seconds(30));
    CHECK(result.status == Status::corrupt);
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].topic == "t");
    CHECK(result.failures[0].status == Status::corrupt);
    CHECK(thrown_by([&] { return consumer.position("t", 0); }).code == ErrorCode::corrupt);  // not read any more
    victim.check_unharmed();
}

TEST_CASE("An extent whose state word is damaged makes large records corrupt, and nobody waits for it") {
    Victim victim(GENERATE(WhenFull::overwrite, WhenFull::block));
    Producer producer(victim.place.broker, "t");
    for (std::uint32_t i = 0; i < victim.log.extent_count; ++i)
        victim.log.extents[i].word.store(std::uint64_t{2} << 62 | (kPublished + 1'000'000), std::memory_order_release);
    CHECK(producer.publish(text(std::string(1000, 'x'))).status == Status::corrupt);
    CHECK(producer.publish(text("small")).status == Status::ok);
    CHECK(victim.log_start() <= victim.end);
}

}  // namespace ringmain::test
