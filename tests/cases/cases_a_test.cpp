// Family A: a peer dies or stalls between reserving and committing, or holding something.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cases/open_ticket.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;

namespace {

constexpr const char* kTopic = "events";
using Clock = std::chrono::steady_clock;

struct Place {
    test::ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};

    explicit Place(std::uint64_t records = 1 << 15) {
        TopicOptions options;
        options.records = records;
        options.producer_slots = 16;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 17;
        (void)broker.create_topic(kTopic, options);
    }
    [[nodiscard]] PartitionDescription partition() const { return broker.describe_topic(kTopic).partitions.at(0); }
};

ProducerRecord record(std::string_view value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    record.partition = 0;
    return record;
}

int publish_numbers(const std::filesystem::path& directory, const std::string& name, int count) {
    const Broker broker(directory);
    Producer producer(broker, kTopic);
    for (int i = 0; i < count; ++i) {
        if (producer.publish(record(name + std::to_string(i))).status != Status::ok)
            return 3;
    }
    return 0;
}

std::vector<std::string> read_all(Consumer& consumer, std::size_t count) {
    std::vector<std::string> values;
    const auto deadline = Clock::now() + 20s;
    while (values.size() < count && Clock::now() < deadline) {
        const PollResult result = consumer.poll(256, 50ms);
        REQUIRE(result.status == Status::ok);
        REQUIRE(result.gaps.empty());
        for (const ConsumerRecord& one : result.records)
            values.emplace_back(as_text(*one.value));
    }
    return values;
}

// Polls in a loop until it is killed.
int poll_forever(const std::filesystem::path& directory, std::chrono::nanoseconds timeout) {
    const Broker broker(directory);
    Consumer consumer(broker);
    consumer.assign(kTopic, Position::latest());
    for (;;)
        (void)consumer.poll(16, timeout);
}

}  // namespace

TEST_CASE("A01 a producer killed between reserve and commit costs one skipped offset and no time-out") {
    Place place;
    const test::MappedLog mapped(place.scratch.broker(), kTopic);
    test::Child victim([&] { return test::take_tickets_and_stay(place.scratch.broker(), kTopic, 1); });
    REQUIRE(test::wait_for_end(mapped, 1));
    victim.kill();
    std::vector<test::Child> producers;
    for (const char* name : {"a", "b", "c"}) {
        producers.emplace_back([&, name] { return publish_numbers(place.scratch.broker(), name, 5'000); });
    }
    // T is longer than a live producer can be off its core here, so that the killed one's ticket is the only one closed.
    ConsumerOptions options;
    options.patience = 100ms;
    Consumer consumer(place.broker, options);
    consumer.assign(kTopic);
    const std::vector<std::string> seen = read_all(consumer, 15'000);
    CHECK(seen.size() == 15'000);
    for (test::Child& child : producers)
        CHECK(child.wait() == 0);
    CHECK(place.partition().closed_tickets == 1);
    Consumer later(place.broker);
    later.assign(kTopic);
    CHECK(read_all(later, 15'000) == seen);
    CHECK(place.broker.verify().skipped == 1);
}

TEST_CASE("A03 nothing is closed because it was idle: idle is not stuck") {
    Place place;
    Keeper keeper(place.broker);
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    REQUIRE(producer.publish(record("first")).status == Status::ok);
    CHECK(read_all(consumer, 1).size() == 1);
    for (int i = 0; i < 100; ++i) {
        (void)keeper.do_work(std::chrono::seconds(i));  // a hundred seconds of the keeper's time pass
        CHECK(consumer.poll(16, 1ms).records.empty());
    }
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(producer.publish(record("after")).status == Status::ok);
        if (i % 100 == 0)
            (void)keeper.do_work(std::chrono::seconds(1000 + i));
    }
    CHECK(read_all(consumer, 1000).size() == 1000);
    CHECK(place.partition().closed_tickets == 0);
}

TEST_CASE("A06 deaths right after the fetch-add: one, two adjacent, and one before a live slow holder") {
    Place place;
    const test::MappedLog mapped(place.scratch.broker(), kTopic);
    const int dead = GENERATE(1, 2);
    test::Child victim([&] { return test::take_tickets_and_stay(place.scratch.broker(), kTopic, dead); });
    const auto tickets = static_cast<std::uint64_t>(dead);
    REQUIRE(test::wait_for_end(mapped, tickets));
    victim.kill();
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    Producer producer(place.broker, kTopic);
    for (int i = 0; i < 10; ++i)
        REQUIRE(producer.publish(record(std::to_string(i))).status == Status::ok);
    const std::vector<std::string> values = read_all(consumer, 10);
    REQUIRE(values.size() == 10);
    for (std::size_t i = 0; i < 10; ++i)
        CHECK(values[i] == std::to_string(i));
    CHECK(place.partition().closed_tickets == tickets);
    // a live holder that is merely slow: nobody is held up by it, and it loses nothing but its offset
    test::Child slow([&] { return test::take_tickets_and_stay(place.scratch.broker(), kTopic, 1); });
    REQUIRE(test::wait_for_end(mapped, tickets + 11));
    CHECK(consumer.poll(16, 20ms).records.empty());
    REQUIRE(producer.publish(record("behind it")).status == Status::ok);
    CHECK(read_all(consumer, 1) == std::vector<std::string>{"behind it"});
    Keeper keeper(place.broker);
    for (int i = 0; i < 10; ++i)
        (void)keeper.do_work(std::chrono::seconds(i));
    CHECK(place.partition().quarantined_cells == 1);  // its cell waits for the slow one only
    slow.kill();
    for (int i = 10; i < 30; ++i)
        (void)keeper.do_work(std::chrono::seconds(i));
    CHECK(place.partition().quarantined_cells == 0);
}

TEST_CASE("A08 a consumer killed at any moment leaves nothing locked") {
    Place place;
    Producer producer(place.broker, kTopic);
    Consumer consumer(place.broker);
    consumer.assign(kTopic);
    for (int round = 0; round < 40; ++round) {
        test::Child reader([&] { return poll_forever(place.scratch.broker(), 0ns); });
        std::this_thread::sleep_for(std::chrono::microseconds(500 + 137 * round));
        reader.kill();
        REQUIRE(producer.try_publish(record("x")).status == Status::ok);
        REQUIRE(read_all(consumer, 1).size() == 1);
        REQUIRE(place.partition().log_end == static_cast<std::uint64_t>(round) + 1);
    }
}

TEST_CASE("A09 a consumer killed while it sleeps does not hold up the waker, and the others go on waking") {
    Place place;
    Producer producer(place.broker, kTopic);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> woken{0};
    std::thread sleeper([&] {
        Consumer consumer(place.broker);
        consumer.assign(kTopic);
        while (!stop.load(std::memory_order_acquire))
            woken.fetch_add(consumer.poll(16, 100ms).records.size(), std::memory_order_acq_rel);
    });
    std::uint64_t sent = 0;
    for (int round = 0; round < 40; ++round) {
        test::Child reader([&] { return poll_forever(place.scratch.broker(), 10s); });
        std::this_thread::sleep_for(5ms);
        reader.kill();
        CHECK(producer.try_publish(record("wake up")).status == Status::ok);
        ++sent;
    }
    const auto deadline = Clock::now() + 10s;
    while (woken.load(std::memory_order_acquire) < sent && Clock::now() < deadline)
        std::this_thread::sleep_for(1ms);
    stop.store(true, std::memory_order_release);
    sleeper.join();
    CHECK(woken.load(std::memory_order_acquire) == sent);
}

TEST_CASE("A10 consumers killed in poll do not slow the producer down or bring it down") {
    Place place;
    test::Child producer([&] {
        const Broker broker(place.scratch.broker());
        Producer own(broker, kTopic);
        for (;;) {
            if (own.publish(record("x")).status != Status::ok)
                return 3;
            std::this_thread::sleep_for(20us);
        }
    });
    const test::MappedLog mapped(place.scratch.broker(), kTopic);
    for (int round = 0; round < 40; ++round) {
        test::Child reader([&] { return poll_forever(place.scratch.broker(), round % 2 == 0 ? 0ns : 1s); });
        std::this_thread::sleep_for(2ms);
        reader.kill();
        const std::uint64_t end = mapped.log.control->log_end.load(std::memory_order_acquire);
        REQUIRE(test::wait_for_end(mapped, end + 10));
    }
    CHECK(producer.wait(0ms) == -1);  // it was still at work
}

TEST_CASE("A11 A12 the keeper survives a client that dies holding everything it can hold, and counts the recovery") {
    Place place;
    const test::MappedLog mapped(place.scratch.broker(), kTopic);
    Keeper keeper(place.broker);
    std::uint64_t reaped = 0;
    for (int round = 0; round < 5; ++round) {
        const std::uint64_t end = mapped.log.control->log_end.load(std::memory_order_acquire);
        test::Child victim([&] { return test::take_tickets_and_stay(place.scratch.broker(), kTopic, 1); });
        REQUIRE(test::wait_for_end(mapped, end + 1));
        for (int i = 0; i < 5; ++i)
            CHECK(keeper.do_work(std::chrono::seconds(round * 100 + i)).reaped_producers == 0);
        victim.kill();
        for (int i = 5; i < 50; ++i)
            reaped += keeper.do_work(std::chrono::seconds(round * 100 + i)).reaped_producers;
    }
    CHECK(reaped == 5);
    CHECK(place.partition().reaped_producers == 5);
    CHECK(place.partition().producers.empty());
    CHECK(place.partition().quarantined_cells == 0);
}

TEST_CASE("A15 many readers killed at once while new ones come do not stop anybody") {
    Place place;
    std::vector<test::Child> readers;
    for (int i = 0; i < 20; ++i)
        readers.emplace_back([&] { return poll_forever(place.scratch.broker(), 1s); });
    Producer producer(place.broker, kTopic);
    std::this_thread::sleep_for(20ms);
    for (const test::Child& reader : readers)
        reader.signal(SIGKILL);
    for (int i = 0; i < 20; ++i) {
        Consumer fresh(place.broker);
        fresh.assign(kTopic, Position::latest());
        REQUIRE(producer.try_publish(record("x")).status == Status::ok);
        REQUIRE(read_all(fresh, 1).size() == 1);
    }
}

TEST_CASE("A16 a reader that dies while it looks at a record in place holds nothing back") {
    Place place(1024);
    Producer producer(place.broker, kTopic);
    for (int round = 0; round < 10; ++round) {
        REQUIRE(producer.publish(record(std::string(500, 'x'))).status == Status::ok);
        test::Child reader([&] {
            const Broker broker(place.scratch.broker());
            Consumer consumer(broker);
            consumer.assign(kTopic);
            (void)consumer.visit([](const ConsumerRecord&) {
                for (;;)
                    ::pause();
            });
            return 3;
        });
        std::this_thread::sleep_for(3ms);
        reader.kill();
    }
    for (int i = 0; i < 3000; ++i)
        REQUIRE(producer.try_publish(record(std::string(500, 'y'))).status == Status::ok);
    CHECK(place.partition().quarantined_cells == 0);
}
