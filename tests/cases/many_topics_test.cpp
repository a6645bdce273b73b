// A thousand topics come and go under a keeper, beside producers and a reader that notice nothing.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"
#include "support/told.hpp"

using namespace ringmain;
using namespace std::chrono_literals;

namespace {

constexpr int kTopics = 1000;
constexpr int kFew = 200;  // many more than a step takes
constexpr int kMakers = 4;

TopicOptions tiny() {
    TopicOptions options;
    options.records = 16;
    options.producer_slots = 1;
    options.payload_bytes = 0;
    options.groups = 1;
    options.members = 1;
    return options;
}

/// A producer and a consumer of one topic that was there before, at work until told to stop.
struct Traffic {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> published{0};
    std::atomic<std::uint64_t> read{0};
    std::atomic<std::uint64_t> wrong{0};

    void publish(const std::filesystem::path& directory) {
        Producer producer(Broker(directory), "busy");
        ProducerRecord record;
        record.value = as_bytes("tick");
        while (!stop) {
            ++(producer.publish(record).status == Status::ok ? published : wrong);
            std::this_thread::sleep_for(100us);
        }
    }
    void consume(const std::filesystem::path& directory) {
        Consumer consumer{Broker(directory)};
        consumer.assign("busy");
        while (!stop || read < published) {
            const PollResult result = consumer.poll(256, 5ms);
            if (result.status != Status::ok || !result.gaps.empty()) ++wrong;
            read += result.records.size();
            if (wrong != 0) return;
        }
    }
};

std::string name_of(int i) { return "t" + std::to_string(i); }

/// Each of some threads does every kMakers-th topic.
template <class Work>
void for_all_topics(const std::filesystem::path& directory, int topics, const Work& work) {
    std::vector<std::jthread> makers;
    for (int maker = 0; maker < kMakers; ++maker) {
        makers.emplace_back([&directory, topics, &work, maker] {
            Broker broker(directory);
            for (int i = maker; i < topics; i += kMakers) work(broker, i);
        });
    }
}

bool wait_for_topics(const Keeper& keeper, std::uint64_t topics) {
    for (int i = 0; i < 20'000 && keeper.statistics().topics != topics; ++i) std::this_thread::sleep_for(1ms);
    return keeper.statistics().topics == topics;
}

}  // namespace

TEST_CASE("A thousand topics are created, described and deleted under load, and a keeper takes each up and lets it go") {
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options;
    options.records = 65'536;
    options.producer_slots = 4;
    options.payload_bytes = 0;
    broker.create_topic("busy", options);
    Traffic traffic;
    std::jthread publisher([&] { traffic.publish(scratch.broker()); });
    std::jthread consumer([&] { traffic.consume(scratch.broker()); });
    const test::Told told;
    Keeper keeper(broker, told.listener());
    {
        std::jthread worker([&](std::stop_token stop) { keeper.run(stop); });
        std::atomic<int> strange{0};
        for_all_topics(scratch.broker(), kTopics, [&](Broker& own, int i) {
            if (own.create_topic(name_of(i), tiny()).partitions.size() != 1) ++strange;
        });
        CHECK(wait_for_topics(keeper, kTopics + 1));
        for_all_topics(scratch.broker(), kTopics, [&](Broker& own, int i) {
            if (own.describe_topic(name_of(i)).name != name_of(i)) ++strange;
        });
        CHECK(broker.list_topics().size() == kTopics + 1);
        for_all_topics(scratch.broker(), kTopics, [&](Broker& own, int i) { own.delete_topic(name_of(i)); });
        CHECK(wait_for_topics(keeper, 1));
        CHECK(strange == 0);
    }
    traffic.stop = true;
    publisher.join();
    consumer.join();
    CHECK(traffic.wrong == 0);
    CHECK(traffic.read == traffic.published);
    CHECK(traffic.published > 0);
    CHECK(broker.list_topics() == std::vector<std::string>{"busy"});
    CHECK(told.count(KeeperEventKind::topic_found) == kTopics + 1);
    CHECK(told.count(KeeperEventKind::topic_gone) == kTopics);
    CHECK(told.count(KeeperEventKind::topic_unreadable) == 0);
    CHECK(told.count(KeeperEventKind::file_missing) == 0);
}

TEST_CASE("A keeper that meets many topics takes up a few in each step, and serves those it has") {
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    for_all_topics(scratch.broker(), kFew, [](Broker& own, int i) { own.create_topic(name_of(i), tiny()); });
    Keeper keeper(broker);
    std::uint64_t steps = 0;
    std::uint64_t most = 0;
    bool idle = false;
    for (std::uint64_t before = 0; !idle && steps < 10'000; ++steps) {
        idle = keeper.do_work(std::chrono::milliseconds(steps)).idle();
        const KeeperStatistics now = keeper.statistics();
        CHECK(idle == (now.topics == kFew && now.partitions == kFew));  // work again at once
        most = std::max(most, now.topics + now.partitions - before);
        before = now.topics + now.partitions;
    }
    CHECK(keeper.statistics().topics == kFew);
    CHECK(keeper.statistics().partitions == kFew);
    CHECK(most <= 64);  // files in a step
    for_all_topics(scratch.broker(), kFew, [](Broker& own, int i) { own.delete_topic(name_of(i)); });
    for (steps = 0; keeper.statistics().topics != 0 && steps < 10'000; ++steps) {
        const std::uint64_t before = keeper.statistics().topics;
        (void)keeper.do_work(std::chrono::seconds(100));
        REQUIRE(before - keeper.statistics().topics <= 4);
    }
    CHECK(keeper.statistics().topics == 0);
}
