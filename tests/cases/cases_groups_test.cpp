// The families C, F and J for members of groups: loss, being alive, and time.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "support/child.hpp"
#include "support/group_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

using Offsets = std::vector<std::uint64_t>;

GroupOptions losing(OnLoss policy) {
    GroupOptions options = group();
    options.on_loss = policy;
    return options;
}

GroupOptions quick(std::chrono::milliseconds session_timeout) {
    GroupOptions options = group();
    options.session_timeout = session_timeout;
    return options;
}

}  // namespace

TEST_CASE("C05 A group that fell behind and wants the earliest resumes at exactly the log start") {
    GroupPlace place;
    Consumer consumer(place.broker, losing(OnLoss::earliest));
    consumer.subscribe("t");
    place.publish(5000);
    const PollResult result = consumer.poll();
    const std::uint64_t start = consumer.log_start("t", 0);
    REQUIRE(result.gaps.size() == 1);
    CHECK(result.gaps[0].from == 0);
    CHECK(result.gaps[0].count() == start);
    REQUIRE_FALSE(result.records.empty());
    CHECK(result.records[0].offset == start);
}

TEST_CASE("C06 A group can stop instead of skipping, and stays stopped over restarts until somebody seeks") {
    GroupPlace place;
    for (int life = 0; life < 3; ++life) {
        Consumer consumer(place.broker, losing(OnLoss::error));
        consumer.subscribe("t");
        if (life == 0) place.publish(5000);
        const PollResult result = consumer.poll();
        CHECK(result.status == Status::position_lost);
        CHECK(result.records.empty());
        REQUIRE(result.gaps.size() == 1);
        CHECK(result.gaps[0].from == 0);
        CHECK(result.gaps[0].to == consumer.log_start("t", 0));
        CHECK(consumer.close().status == Status::ok);
    }
    Consumer consumer(place.broker, losing(OnLoss::error));
    consumer.subscribe("t");
    (void)consumer.poll(0);
    consumer.seek("t", 0, Position::earliest());
    CHECK(consumer.poll().records.size() > 0);
}

TEST_CASE("C08 A group that was made before the first publish gets all, whenever its member starts") {
    GroupPlace place;
    GroupOptions options = group();
    options.start = Position::latest();
    { Consumer(place.broker, options).subscribe("t"); }
    place.publish(15);
    Consumer consumer(place.broker, options);
    consumer.subscribe("t");
    CHECK(consumer.poll().records.size() == 15);
}

TEST_CASE("C12 C13 A gating group holds producers by name also when its members are dead; closing another changes nothing") {
    GroupPlace place(1, WhenFull::block);
    GroupOptions options = group("slow");
    options.gating = true;
    Child dead([&] {
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, options);
        consumer.subscribe("t");
        (void)consumer.poll(0);
        ::raise(SIGSTOP);
        return 0;
    });
    REQUIRE(::waitpid(dead.pid(), nullptr, WUNTRACED) == dead.pid());
    dead.kill();
    Consumer other(place.broker, group("other"));
    other.subscribe("t");
    Producer producer(place.broker, "t");
    ProducerRecord record;
    record.value = as_bytes("x");
    std::size_t published = 0, got = 0;
    while (producer.try_publish(record).status == Status::ok && published < 1000) ++published, got += other.poll().records.size();
    CHECK(published < 64);
    CHECK(got == published);
    REQUIRE(producer.blocking_gate(0).has_value());
    CHECK(producer.blocking_gate(0)->name == "slow");
    CHECK(producer.blocking_gate(0)->group);
    CHECK(other.close().status == Status::ok);
    CHECK(producer.try_publish(record).status == Status::would_block);
    Consumer successor(place.broker, options);
    successor.subscribe("t");
    CHECK(successor.poll(64, 20s).records.size() == published);
    CHECK(successor.commit().status == Status::ok);
    CHECK(producer.try_publish(record).status == Status::ok);
}

TEST_CASE("F05 Members that are starved by load stay members, or learn that they are none, and read everything once more at most") {
    GroupPlace place(2);
    std::vector<Child> hogs;
    for (int i = 0; i < 4; ++i) {
        hogs.emplace_back([] {
            for (std::uint64_t n = 0;; ++n) asm volatile("" : : "r"(n));
            return 0;
        });
    }
    Child starved([&] {
        if (::setpriority(PRIO_PROCESS, 0, 19) != 0) return 1;
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, quick(5s));
        consumer.subscribe("t");
        for (;;) {
            const PollResult result = consumer.poll(16, 50ms);
            if (result.status != Status::ok) return 2;
            for (const ConsumerRecord& record : result.records) {
                if (as_text(*record.value) == "end") return consumer.close().status == Status::ok ? 0 : 3;
            }
        }
    });
    Consumer observer(place.broker, quick(5s));
    observer.subscribe("t");
    const auto until = std::chrono::steady_clock::now() + 3s;
    while (std::chrono::steady_clock::now() < until) (void)observer.poll(16, 10ms);
    CHECK(place.view().set.members() == 2);
    hogs.clear();
    Producer producer(place.broker, "t");
    for (std::uint32_t p = 0; p < 2; ++p) {
        ProducerRecord record;
        record.value = as_bytes("end");
        record.partition = p;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
    CHECK(starved.wait() == 0);
}

TEST_CASE("F06 A member that is stopped for long and continued is told, joins again by itself and works, ten times") {
    GroupPlace place;
    Child member([&] {
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, quick(100ms));
        consumer.subscribe("t");
        for (int told = 0; told < 10;) {
            const Status status = consumer.poll(16, 5ms).status;
            if (status == Status::evicted) {
                ++told;
            } else if (status != Status::ok) {
                return 1;
            }
        }
        return consumer.close().status == Status::ok ? 0 : 2;
    });
    Consumer observer(place.broker, quick(100ms));
    observer.subscribe("t");
    const auto wait_for = [&](std::uint32_t members) {
        for (int i = 0; i < 20'000 && place.view().set.members() != members; ++i) (void)observer.poll(16, 1ms);
        REQUIRE(place.view().set.members() == members);
    };
    for (int round = 0; round < 10; ++round) {
        wait_for(2);
        member.signal(SIGSTOP);
        wait_for(1);
        member.signal(SIGCONT);
    }
    CHECK(member.wait() == 0);
}

TEST_CASE("J05 A member seeks by time: between, before, after") {
    GroupPlace place;
    Producer producer(place.broker, "t");
    for (const std::int64_t time : {10, 20, 30}) {
        ProducerRecord record;
        record.value = as_bytes("x");
        record.timestamp_ns = time;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
    Consumer consumer(place.broker, group());
    consumer.subscribe("t");
    (void)consumer.poll(0);
    const std::pair<std::int64_t, std::uint64_t> cases[] = {{0, 0}, {10, 0}, {15, 1}, {20, 1}, {30, 2}, {31, 3}};
    for (const auto& [time, offset] : cases) {
        const SeekResult result = consumer.replay("t", 0, Position::since(time));
        CHECK(result.offset == offset);
        CHECK(result.at_end == (offset == 3));
        CHECK(consumer.committed("t", 0) == offset);
    }
    place.publish(1);
    CHECK(offsets_of(consumer.poll()) == Offsets{3});
}
