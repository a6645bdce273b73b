// Slow, stopped and late readers: what they lose they are told, in numbers; what they do not lose they get.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::ScratchDirectory;

namespace {

struct Topic {
    ScratchDirectory directory;
    Broker broker{directory.broker(), Broker::Mode::open_or_create};

    explicit Topic(WhenFull when_full = WhenFull::overwrite, std::uint64_t records = 1024) {
        TopicOptions options;
        options.records = records;
        options.producer_slots = 4;
        options.payload_bytes = 0;
        options.when_full = when_full;
        broker.create_topic("readers", options);
    }
};

PublishResult publish_number(Producer& producer, std::uint64_t number) {
    ProducerRecord record;
    record.value = std::as_bytes(std::span(&number, 1));
    return producer.try_publish(record);
}

std::uint64_t number_of(const ConsumerRecord& record) {
    std::uint64_t number = ~std::uint64_t{0};
    if (record.value && record.value->size() == sizeof number)
        std::memcpy(&number, record.value->data(), sizeof number);
    return number;
}

/// What a reader of records with growing numbers got and lost, and offsets without a record (closed tickets). `wrong`
/// counts what may never be: offsets or numbers that go back, and gaps that do not begin where the reader was.
struct Count {
    std::uint64_t received = 0, lost = 0, gaps = 0, skipped = 0, wrong = 0;
    std::uint64_t next = 0;         // the offset it would read next
    std::uint64_t next_number = 0;  // no number below it may come

    bool take(const PollResult& result) {
        auto gap = result.gaps.begin();
        for (const ConsumerRecord& record : result.records) {
            while (gap != result.gaps.end() && gap->from < record.offset)
                take(*gap++);
            wrong += record.offset < next || number_of(record) < next_number ? 1 : 0;
            skipped += record.offset - next;
            next = record.offset + 1;
            next_number = number_of(record) + 1;
            ++received;
        }
        while (gap != result.gaps.end())
            take(*gap++);
        return !result.records.empty() || !result.gaps.empty();
    }

private:
    void take(const Gap& gap) {
        wrong += gap.from < next || gap.to <= gap.from ? 1 : 0;
        skipped += gap.from - next;
        lost += gap.count();
        next = gap.to;
        ++gaps;
    }
};

}  // namespace

TEST_CASE("C01 Without consumers nothing blocks, and describe says what a full topic does") {
    Topic topic;
    Producer producer(topic.broker, "readers");
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < 50'000; ++i)
        refused += publish_number(producer, i).status == Status::ok ? 0 : 1;
    CHECK(refused == 0);
    CHECK(topic.broker.describe_topic("readers").options.when_full == WhenFull::overwrite);
    Topic blocking(WhenFull::block);
    Producer other(blocking.broker, "readers");
    for (std::uint64_t i = 0; i < 50'000; ++i)
        refused += publish_number(other, i).status == Status::ok ? 0 : 1;
    CHECK(refused == 0);
    CHECK(blocking.broker.describe_topic("readers").options.when_full == WhenFull::block);
}

TEST_CASE("C02 A slow receiver is told of its gap and then gets current data to the end") {
    Topic topic;
    Producer producer(topic.broker, "readers");
    Consumer consumer(topic.broker);
    consumer.assign("readers");
    Count count;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        REQUIRE(publish_number(producer, i).status == Status::ok);
        if (i % 100 == 0)
            count.take(consumer.poll(1));
    }
    while (count.take(consumer.poll())) {
    }
    CHECK(count.gaps > 0);
    CHECK(count.next == 10'000);
    CHECK(count.received + count.lost == 10'000);
    CHECK(count.wrong == 0);
}

TEST_CASE("C03 Received and lost make up what was published, while both run at full speed") {
    constexpr std::uint64_t kRecords = 200'000;
    Topic topic;
    Child producer([&] {
        Broker broker(topic.directory.broker());
        Producer mine(broker, "readers");
        for (std::uint64_t i = 0; i < kRecords; ++i) {
            if (publish_number(mine, i).status != Status::ok)
                return 1;
        }
        return 0;
    });
    Consumer consumer(topic.broker);
    consumer.assign("readers");
    Count count;
    while (count.next_number < kRecords && count.take(consumer.poll(64, 10s))) {
    }
    CHECK(producer.wait() == 0);
    CHECK(count.wrong == 0);
    CHECK(count.next_number == kRecords);  // the last one is never lost
    CHECK(count.received + count.lost + count.skipped == count.next);
    // what was not published at its first ticket, because the consumer closed it, was published at another
    const PartitionDescription log = topic.broker.describe_topic("readers").partitions[0];
    CHECK(log.log_end == kRecords + log.closed_tickets);
}

TEST_CASE("C05 A consumer that fell behind resumes at exactly the log start") {
    Topic topic;
    Producer producer(topic.broker, "readers");
    Consumer consumer(topic.broker);
    consumer.assign("readers", Position::at(7));
    for (std::uint64_t i = 0; i < 5'000; ++i)
        REQUIRE(publish_number(producer, i).status == Status::ok);
    const PollResult result = consumer.poll();
    const std::uint64_t start = consumer.log_start("readers", 0);
    REQUIRE(result.gaps.size() == 1);
    CHECK(result.gaps[0].from == 7);
    CHECK(result.gaps[0].to == start);
    CHECK(result.gaps[0].count() == start - 7);
    const PollResult next = result.records.empty() ? consumer.poll() : result;
    REQUIRE_FALSE(next.records.empty());
    CHECK(next.records[0].offset == start);
}

TEST_CASE("C08 What was published before the consumer came is all there") {
    Topic topic;
    Producer producer(topic.broker, "readers");
    for (std::uint64_t i = 0; i < 15; ++i)
        REQUIRE(publish_number(producer, i).status == Status::ok);
    Consumer consumer(topic.broker);
    consumer.assign("readers", Position::earliest());
    CHECK(consumer.poll().records.size() == 15);
}

TEST_CASE("C11 A stopped subscriber costs the others nothing") {
    Topic topic;
    Child stopped([&] {
        Broker broker(topic.directory.broker());
        Consumer consumer(broker);
        consumer.assign("readers");
        for (;;)
            (void)consumer.poll(16, 1s);
        return 0;
    });
    stopped.signal(SIGSTOP);
    Producer producer(topic.broker, "readers");
    Consumer consumer(topic.broker);
    consumer.assign("readers");
    Count count;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        REQUIRE(publish_number(producer, i).status == Status::ok);
        if (i % 64 == 0) {
            while (count.take(consumer.poll())) {
            }
        }
    }
    while (count.take(consumer.poll())) {
    }
    CHECK(count.received == 20'000);
    CHECK(count.gaps == 0);
    CHECK(count.wrong == 0);
}

TEST_CASE("C12 A producer that is held back learns by whom, and the other readers get everything") {
    Topic topic(WhenFull::block);
    Consumer deaf(topic.broker);
    deaf.assign("readers");
    deaf.hold_gates("the deaf one");
    Consumer consumer(topic.broker);
    consumer.assign("readers");
    Producer producer(topic.broker, "readers");
    Count count;
    std::uint64_t published = 0;
    while (publish_number(producer, published).status == Status::ok) {
        ++published;
        count.take(consumer.poll());
        REQUIRE(published <= 1024);
    }
    CHECK(publish_number(producer, published).status == Status::would_block);
    const auto gate = producer.blocking_gate(0);
    REQUIRE(gate.has_value());
    CHECK(gate->name == "the deaf one");
    CHECK(gate->offset == 0);
    while (count.take(consumer.poll())) {
    }
    CHECK(count.received == published);
    CHECK(count.gaps == 0);
}

TEST_CASE("C13 A consumer that is closed or killed lets the producers and the other consumer go on") {
    Topic topic(WhenFull::block);
    Child dead([&] {
        Broker broker(topic.directory.broker());
        Consumer consumer(broker);
        consumer.assign("readers");
        consumer.hold_gates("the dead one");
        ::raise(SIGSTOP);
        return 0;
    });
    Consumer other(topic.broker);
    other.assign("readers");
    while (topic.broker.describe_topic("readers").partitions[0].gates.empty())
        ::usleep(1000);
    {
        Consumer closing(topic.broker);
        closing.assign("readers");
        closing.hold_gates("the closing one");
    }
    Producer producer(topic.broker, "readers", {.timeout = 20s});
    Count count;
    std::uint64_t published = 0;
    while (publish_number(producer, published).status == Status::ok) {
        ++published;
        count.take(other.poll());
    }
    dead.kill();
    const std::uint64_t number = published;
    ProducerRecord record;
    record.value = std::as_bytes(std::span(&number, 1));
    CHECK(producer.publish(record).status == Status::ok);  // waits until the death is proven, without any keeper
    ++published;
    while (count.take(other.poll())) {
    }
    CHECK(count.received + count.lost + count.skipped == published);
    CHECK(count.wrong == 0);
}
