// Where a group is: its start, what it lost, and what producers keep for it.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "ringmain/keeper.hpp"
#include "support/group_place.hpp"

using namespace ringmain;
using namespace ringmain::test;

namespace {

using Offsets = std::vector<std::uint64_t>;
using Calls = std::vector<std::string>;

GroupOptions starting(Position start) {
    GroupOptions options = group();
    options.start = start;
    return options;
}

GroupOptions losing(OnLoss policy) {
    GroupOptions options = group();
    options.on_loss = policy;
    return options;
}

/// Publishes until the topic is full. How many were published.
std::uint64_t fill(const GroupPlace& place) {
    Producer producer(place.broker, "t");
    std::uint64_t published = 0;
    ProducerRecord record;
    record.value = as_bytes("x");
    while (producer.try_publish(record).status == Status::ok && published < 1000) ++published;
    return published;
}

}  // namespace

TEST_CASE("Where a new group begins is decided once, by who names it first") {
    GroupPlace place;
    place.publish(10);
    struct Case {
        Position start;
        std::uint64_t offset;
    };
    const Case one = GENERATE(Case{Position::earliest(), 0}, Case{Position::latest(), 10}, Case{Position::at(7), 7},
                              Case{Position::since(0), 0}, Case{Position::since(INT64_MAX), 10});
    {
        Consumer first(place.broker, starting(one.start));
        first.subscribe("t");
        CHECK(place.view().partitions[0].word.committed == one.offset);  // already now, not with the first poll
        CHECK_FALSE(place.view().partitions[0].word.touched);
    }
    place.publish(5);
    Consumer second(place.broker, starting(Position::latest()));
    second.subscribe("t");
    CHECK(second.poll(1).records[0].offset == one.offset);
    CHECK(second.committed("t", 0) == std::nullopt);
}

TEST_CASE("on_loss error: told once with numbers, then position_lost until somebody seeks, also after a restart") {
    GroupPlace place;
    place.publish(10);
    std::optional<Consumer> consumer(std::in_place, place.broker, losing(OnLoss::error));
    consumer->subscribe("t");
    CHECK(consumer->poll(4).records.size() == 4);
    CHECK(consumer->commit().status == Status::ok);
    place.publish(200);
    for (int restart = 0; restart < 2; ++restart) {
        PollResult result = consumer->poll();
        const std::uint64_t start = consumer->log_start("t", 0);
        CHECK(result.status == Status::position_lost);
        CHECK(result.records.empty());
        REQUIRE(result.gaps.size() == 1);
        CHECK(result.gaps[0].from == 4);
        CHECK(result.gaps[0].to == start);
        CHECK(result.gaps[0].reason == GapReason::overwritten);
        for (int i = 0; i < 2; ++i) {
            result = consumer->poll();
            CHECK(result.status == Status::position_lost);
            CHECK(result.gaps.empty());
            REQUIRE(result.failures.size() == 1);
            CHECK(result.failures[0].partition == 0);
        }
        CHECK(consumer->visit([](const ConsumerRecord&) {}) == VisitStatus::stopped);
        CHECK(consumer->last_status() == Status::position_lost);
        CHECK(consumer->position("t", 0) == 4);
        if (restart == 0) {
            CHECK(consumer->close().status == Status::ok);
            consumer.emplace(place.broker, losing(OnLoss::latest));  // the group's policy counts
            consumer->subscribe("t");
        }
    }
    CHECK(place.view().partitions[0].word.committed == 4);
    consumer->seek("t", 0, Position::earliest());
    const PollResult result = consumer->poll(1);
    CHECK(result.status == Status::ok);
    CHECK(offsets_of(result) == Offsets{consumer->log_start("t", 0)});
    CHECK(consumer->commit().status == Status::ok);
}

TEST_CASE("on_loss error: one partition that waits for a seek does not hold up the others") {
    GroupPlace place(2);
    place.publish_everywhere(2, 2);
    Consumer consumer(place.broker, losing(OnLoss::error));
    consumer.subscribe("t");
    CHECK(consumer.poll().records.size() == 4);
    place.publish(200, 0);
    place.publish(3, 1);
    const PollResult result = consumer.poll();
    CHECK(result.status == Status::position_lost);
    CHECK(result.records.size() == 3);
    place.publish(3, 1);
    int valid = 0;
    for (int i = 0; i < 10; ++i) valid += consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::valid ? 1 : 0;
    CHECK(valid == 3);
}

TEST_CASE("on_loss earliest and latest: a gap with numbers, then on from there") {
    const OnLoss policy = GENERATE(OnLoss::earliest, OnLoss::latest);
    GroupPlace place;
    place.publish(10);
    Consumer consumer(place.broker, losing(policy));
    consumer.subscribe("t");
    CHECK(consumer.poll(4).records.size() == 4);
    place.publish(200);
    PollResult result = consumer.poll(1);
    CHECK(result.status == Status::ok);
    const std::uint64_t to = policy == OnLoss::latest ? 210 : consumer.log_start("t", 0);
    REQUIRE(result.gaps.size() == 1);
    CHECK(result.gaps[0].from == 4);
    CHECK(result.gaps[0].to == to);
    place.publish(1);
    if (result.records.empty()) result = consumer.poll();
    REQUIRE_FALSE(result.records.empty());
    CHECK(result.records[0].offset >= to);
    CHECK(consumer.commit().status == Status::ok);
}

TEST_CASE("A gating group holds producers back, also while no member runs, and lets them go on by committing") {
    GroupPlace place(1, WhenFull::block);
    GroupOptions options = group();
    options.gating = true;
    {
        Consumer consumer(place.broker, options);
        consumer.subscribe("t");
    }
    const std::uint64_t full = fill(place);
    CHECK(full < 64);
    Producer producer(place.broker, "t");
    const auto gate = producer.blocking_gate(0);
    REQUIRE(gate.has_value());
    CHECK(gate->group);
    CHECK(gate->name == "g");
    CHECK(gate->offset == 0);
    Consumer consumer(place.broker, group());  // that it gates was decided before
    consumer.subscribe("t");
    CHECK(consumer.poll().records.size() == full);
    CHECK(fill(place) == 0);  // delivered is not committed
    CHECK(consumer.commit().status == Status::ok);
    CHECK(fill(place) > 0);
    const PollResult rest = consumer.poll();
    CHECK(rest.gaps.empty());
    CHECK(rest.records.size() > 0);
    CHECK(rest.records[0].offset == full);
}

TEST_CASE("A gating group that a reader by hand names first gates no lower than the log start may be already") {
    GroupPlace place(1, WhenFull::block);
    place.publish(200);  // nothing gates: the log start has moved, and the floor with it
    const std::uint64_t start = place.broker.describe_topic("t").partitions.at(0).log_start;
    REQUIRE(start > 0);
    GroupOptions options = starting(Position::at(0));
    options.gating = true;
    Consumer consumer(place.broker, options);
    consumer.assign("t", 0, Position::committed());
    CHECK(consumer.position("t", 0) >= start);
    CHECK(place.view().partitions.at(0).word.gates);
    CHECK(fill(place) < 64);
    CHECK(consumer.poll().gaps.empty());  // all that it gates is there
}

TEST_CASE("A producer that waits for a gating group goes on when it commits") {
    GroupPlace place(1, WhenFull::block);
    GroupOptions options = group();
    options.gating = true;
    Consumer consumer(place.broker, options);
    consumer.subscribe("t");
    (void)fill(place);
    std::atomic<bool> published{false};
    std::thread waiting([&] {
        Producer producer(place.broker, "t", {.timeout = std::chrono::seconds(30)});
        ProducerRecord record;
        record.value = as_bytes("x");
        published = producer.publish(record).status == Status::ok;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(published);
    CHECK(consumer.poll().records.size() > 0);
    CHECK(consumer.commit().status == Status::ok);
    waiting.join();
    CHECK(published);
}

TEST_CASE("A gating group that is too far behind is let go and told so once, and gates again when it has caught up") {
    GroupPlace place(1, WhenFull::block);
    Told told;
    GroupOptions options = group();
    options.gating = true;
    options.lag_records_max = 20;
    options.on_loss = OnLoss::earliest;
    options.listener = told.listener();
    Consumer consumer(place.broker, options);
    consumer.subscribe("t");
    place.publish(5);
    CHECK(consumer.poll(2).records.size() == 2);
    place.publish(200);  // producers go on
    CHECK(told.take() == Calls{"assigned t/0"});
    const bool by_commit = GENERATE(false, true);
    if (by_commit) {
        const CommitResult result = consumer.commit();
        CHECK(result.status == Status::ok);
        REQUIRE(result.partitions.size() == 1);
        CHECK(result.partitions[0].let_go);
    }
    const PollResult result = consumer.poll(256);
    CHECK(result.gaps.size() == 1);
    CHECK(told.take() == Calls{"let_go t/0"});
    while (!consumer.poll().records.empty()) {}
    CHECK(told.take().empty());
    const CommitResult caught_up = consumer.commit();
    CHECK(caught_up.status == Status::ok);
    CHECK(caught_up.partitions[0].let_go == true);  // it had been until this commit
    CHECK(place.view().partitions[0].word.gates);
    CHECK_FALSE(consumer.commit().partitions[0].let_go);
    place.publish(10);
    CHECK(consumer.poll().gaps.empty());
    CHECK(told.take().empty());
}

TEST_CASE("A group that was let go while nobody read is told by its next member") {
    GroupPlace place(1, WhenFull::block);
    Told told;
    GroupOptions options = group();
    options.gating = true;
    options.lag_records_max = 20;
    options.listener = told.listener();
    { Consumer(place.broker, options).subscribe("t"); }
    place.publish(200);
    Consumer consumer(place.broker, options);
    consumer.subscribe("t");
    CHECK(consumer.poll().status == Status::position_lost);
    CHECK(consumer.poll().status == Status::position_lost);
    CHECK(told.take() == Calls{"assigned t/0", "let_go t/0"});
}

TEST_CASE("A damaged partition is found when it is subscribed to, and no group begins in it") {
    GroupPlace place;
    place.publish(3);
    const TopicFiles files = place.files();
    const platform::Mapping log = files.map_partition(0, platform::Access::read_write);
    const partition_log::LogMemory<platform::HostMemory> memory(log.data(), geometry_of(log), files.readers(0));
    memory.control->log_end.store(UINT64_MAX, std::memory_order_release);
    Consumer consumer(place.broker, group());
    CHECK(thrown_by([&] { consumer.subscribe("t"); return 0; }).code == ErrorCode::corrupt);
    CHECK(place.view().name.empty());
    memory.control->log_end.store(3, std::memory_order_release);
    consumer.subscribe("t");
    CHECK(consumer.poll().records.size() == 3);
}
