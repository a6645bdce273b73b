// Real processes through the public classes: killed at every system call of attaching, publishing and detaching, and at
// random instructions of publishing. The proof of death is the kernel's.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crash/shared_bytes.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"
#include "support/syscall_tracer.hpp"

using namespace ringmain;
using namespace std::chrono_literals;

namespace {

constexpr const char* kTopic = "events";

TopicOptions small_topic() {
    TopicOptions options;
    options.records = 1024;
    options.producer_slots = 4;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    return options;
}

ProducerRecord record(std::string_view value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    record.partition = 0;
    return record;
}

// Reads all there is; every value must be one that somebody sends. Returns how many records.
std::uint64_t drain(Consumer& consumer, std::vector<std::string>* values = nullptr) {
    std::uint64_t count = 0;
    for (;;) {
        const PollResult result = consumer.poll(256, 5ms);
        REQUIRE(result.status == Status::ok);
        REQUIRE(result.gaps.empty());
        if (result.records.empty())
            return count;
        for (const ConsumerRecord& one : result.records) {
            REQUIRE(one.value);
            if (values != nullptr)
                values->emplace_back(as_text(*one.value));
        }
        count += result.records.size();
    }
}

// Everything that dead processes held is given back by the keeper.
void require_nothing_left(const Broker& broker, Keeper& keeper, std::size_t live_producers) {
    for (int i = 0; i < 50 && !keeper.do_work(std::chrono::seconds(i)).idle(); ++i) {
    }
    const PartitionDescription partition = broker.describe_topic(kTopic).partitions.at(0);
    CHECK(partition.producers.size() == live_producers);
    CHECK(partition.quarantined_cells == 0);
    CHECK(partition.extents_owned <= live_producers);
    CHECK_FALSE(partition.exclusive);
}

void live_and_publish(const std::filesystem::path& directory, bool exclusive) {
    const Broker broker(directory);
    ProducerOptions options;
    options.exclusive = exclusive;
    Producer producer(broker, kTopic, options);
    producer.attach(0);
    if (producer.publish(record("small")).status != Status::ok)
        ::_exit(3);
    if (producer.publish(record(std::string(300, 'L'))).status != Status::ok)
        ::_exit(3);
}

}  // namespace

TEST_CASE("a producer killed at every system call of its life leaves nothing and stops nobody") {
    if (!test::can_trace())
        SKIP("the kernel does not let a process trace its child");
    const bool exclusive = GENERATE(false, true);
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    (void)broker.create_topic(kTopic, small_topic());
    Consumer consumer(broker);
    consumer.assign(kTopic);
    Keeper keeper(broker);
    std::uint64_t points = 0;
    for (std::uint64_t stop = 0;; ++stop, ++points) {
        const bool killed = test::run_killed_at(stop, [&] { live_and_publish(scratch.broker(), exclusive); });
        {
            // before any keeper has run
            Producer other(broker, kTopic);
            REQUIRE(other.try_publish(record("other")).status == Status::ok);
            std::vector<std::string> values;
            const std::uint64_t count = drain(consumer, &values);
            REQUIRE(count >= 1);
            REQUIRE(count <= 3);
            REQUIRE(values.back() == "other");
        }
        require_nothing_left(broker, keeper, 0);
        if (!killed)
            break;
    }
    CHECK(points > 10);
    CHECK(broker.verify().damage.empty());
    std::cout << "points tried: " << points << (exclusive ? " (exclusive)" : " (shared)") << std::endl;
}

TEST_CASE("producers killed at random instructions of publish lose nothing that was answered ok") {
    constexpr int kRounds = 60;
    const std::uint32_t seed = Catch::rngSeed() != 0 ? Catch::rngSeed() : std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = small_topic();
    options.records = 1 << 18;  // nothing is overwritten
    options.payload_bytes = 0;
    (void)broker.create_topic(kTopic, options);
    Consumer consumer(broker);
    consumer.assign(kTopic);
    Keeper keeper(broker);
    crash::SharedBytes shared(4096);
    auto* answered = new (shared.data()) std::atomic<std::uint64_t>(0);
    for (int round = 0; round < kRounds; ++round) {
        answered->store(0, std::memory_order_release);
        test::Child child([&] {
            const Broker own(scratch.broker());
            Producer producer(own, kTopic);
            for (std::uint64_t i = 1;; ++i) {
                if (producer.publish(record(std::to_string(i))).status != Status::ok)
                    return 3;
                answered->store(i, std::memory_order_release);
                if (i % 64 == 0)
                    std::this_thread::sleep_for(100us);
            }
        });
        while (answered->load(std::memory_order_acquire) == 0)
            std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<>(0, 2000)(random)));
        child.kill();
        std::vector<std::string> values;
        const std::uint64_t count = drain(consumer, &values);
        const std::uint64_t ok = answered->load(std::memory_order_acquire);
        REQUIRE(count >= ok);
        REQUIRE(count <= ok + 1);  // committed, and killed before it could say so
        for (std::uint64_t i = 0; i < count; ++i)
            REQUIRE(values[i] == std::to_string(i + 1));
    }
    require_nothing_left(broker, keeper, 0);
}

TEST_CASE("a producer stopped in the middle of its work keeps its slot, and its next publish arrives") {
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    (void)broker.create_topic(kTopic, small_topic());
    crash::SharedBytes shared(4096);
    auto* answered = new (shared.data()) std::atomic<std::uint64_t>(0);
    test::Child child([&] {
        const Broker own(scratch.broker());
        Producer producer(own, kTopic);
        for (std::uint64_t i = 1;; ++i) {
            if (producer.publish(record("stopped now and then")).status != Status::ok)
                return 3;
            answered->store(i, std::memory_order_release);
        }
    });
    Keeper keeper(broker);
    Producer other(broker, kTopic);
    for (int round = 0; round < 20; ++round) {
        const std::uint64_t before = answered->load(std::memory_order_acquire);
        while (answered->load(std::memory_order_acquire) == before)
            std::this_thread::yield();
        child.signal(SIGSTOP);
        for (int i = 0; i < 2500; ++i)
            REQUIRE(other.try_publish(record("other")).status == Status::ok);
        for (int i = 0; i < 5; ++i)
            CHECK(keeper.do_work(std::chrono::seconds(round * 10 + i)).reaped_producers == 0);
        REQUIRE(broker.describe_topic(kTopic).partitions.at(0).producers.size() == 2);
        child.signal(SIGCONT);
    }
    CHECK(child.wait(0ms) == -1);  // still at work until it is killed here
}
