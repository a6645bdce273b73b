// How long a keeper pauses, how long its steps took, and how many system calls rest costs.
#include "keeper_pace.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>

#include "cases/open_ticket.hpp"
#include "ringmain/ringmain.hpp"
#include "step_meter.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"
#include "support/syscall_tracer.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::ScratchDirectory;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr auto kInterval = 10ms;

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    return options;
}

bool wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 10'000; ++i, std::this_thread::sleep_for(1ms)) {
        if (condition()) return true;
    }
    return false;
}

/// A keeper in a thread that has come to rest, and would step again in an hour: what it notices before, it was told.
class Resting {
public:
    explicit Resting(const Broker& broker)
        : keeper_(broker, [this](const KeeperEvent& event) { told_[static_cast<std::size_t>(event.kind)] += 1; }),
          worker_([this](std::stop_token stop) { keeper_.run(stop, 1h); }) {
        std::uint64_t steps = 0;
        REQUIRE(wait_for([&] {
            const std::uint64_t before = std::exchange(steps, keeper_.statistics().steps);
            std::this_thread::sleep_for(50ms);
            return steps != 0 && steps == before;
        }));
    }
    [[nodiscard]] KeeperStatistics statistics() const { return keeper_.statistics(); }
    [[nodiscard]] bool tells(KeeperEventKind kind) const {
        return wait_for([&] { return told_[static_cast<std::size_t>(kind)] != 0; });
    }

private:
    std::array<std::atomic<int>, 32> told_{};
    Keeper keeper_;
    std::jthread worker_;
};

}  // namespace

TEST_CASE("A keeper pauses briefly for a second after the last change, and then for long") {
    KeeperPace pace;
    pace.note(0, true, kNothingDue);
    CHECK(pace.pause(kInterval) == kInterval);
    pace.note(999 * kMs, false, kNothingDue);
    CHECK(pace.pause(kInterval) == kInterval);
    pace.note(1000 * kMs, false, kNothingDue);
    CHECK(pace.pause(kInterval) == KeeperPace::kLongPause);
    CHECK(pace.pause(5s) == 5s);  // who wants longer pauses has them
    pace.note(1500 * kMs, true, kNothingDue);
    CHECK(pace.pause(kInterval) == kInterval);
}

TEST_CASE("What falls due ends a pause in time, and what is overdue makes no busy loop") {
    KeeperPace pace;
    pace.note(0, true, kNothingDue);
    pace.note(5000 * kMs, false, 5100 * kMs);
    CHECK(pace.pause(kInterval) == 100ms);
    pace.note(5000 * kMs, false, 9000 * kMs);
    CHECK(pace.pause(kInterval) == KeeperPace::kLongPause);
    pace.note(5000 * kMs, false, 5000 * kMs);
    CHECK(pace.pause(kInterval) == KeeperPace::kShortestPause);
    pace.note(5000 * kMs, false, 0);
    CHECK(pace.pause(kInterval) == KeeperPace::kShortestPause);
    CHECK(pace.pause(0ms) == KeeperPace::kShortestPause);
    pace.note(5000 * kMs, true, 5001 * kMs);
    CHECK(pace.pause(kInterval) == 1ms);
    CHECK(pace.pause(0ms) == 0ms);
}

TEST_CASE("A clock that goes back makes a keeper lively, not sleepy") {
    KeeperPace pace;
    pace.note(50'000 * kMs, true, kNothingDue);
    pace.note(1'000 * kMs, true, kNothingDue);
    CHECK(pace.pause(kInterval) == kInterval);
    pace.note(3'000 * kMs, false, kNothingDue);
    CHECK(pace.pause(kInterval) == KeeperPace::kLongPause);
}

TEST_CASE("The longest step of the last minute is forgotten after it, that of all steps is not") {
    constexpr std::int64_t kSecond = 1000 * kMs;
    StepMeter meter;
    CHECK(meter.longest_of_minute_ns(0) == 0);
    meter.add(100 * kSecond, 7 * kMs);
    meter.add(130 * kSecond, 2 * kMs);
    meter.add(131 * kSecond, 1 * kMs);
    CHECK(meter.last_ns() == 1 * kMs);
    CHECK(meter.longest_ns() == 7 * kMs);
    CHECK(meter.longest_of_minute_ns(131 * kSecond) == 7 * kMs);
    CHECK(meter.longest_of_minute_ns(160 * kSecond) == 7 * kMs);
    CHECK(meter.longest_of_minute_ns(166 * kSecond) == 2 * kMs);
    CHECK(meter.longest_of_minute_ns(200 * kSecond) == 0);
    meter.add(300 * kSecond, 3 * kMs);
    CHECK(meter.longest_of_minute_ns(300 * kSecond) == 3 * kMs);
    CHECK(meter.longest_ns() == 7 * kMs);
}

TEST_CASE("A keeper at rest makes no system call for its topics, and few for itself") {
    if (!test::can_trace())
        SKIP("may not trace its children");
    const auto calls_of = [](int topics, int steps) {
        const ScratchDirectory scratch;
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        for (int i = 0; i < topics; ++i)
            broker.create_topic("t" + std::to_string(i), small());
        return test::system_calls_of([&] {
            Keeper keeper{Broker(scratch.broker())};
            for (int step = 1; step <= steps; ++step)
                (void)keeper.do_work(KeeperPace::kLongPause * step);
        });
    };
    const auto count = [](const std::vector<std::uint64_t>& calls, std::uint64_t call) {
        return std::count(calls.begin(), calls.end(), call);
    };
    // what a hundred steps (45 s) more cost
    const auto more = [&](int topics, std::uint64_t call) { return count(calls_of(topics, 120), call) - count(calls_of(topics, 20), call); };
    CHECK(calls_of(3, 120).size() - calls_of(3, 20).size() <= 100 * 25);
    // lock file and clients, a sweep now and then: nothing for each topic
    CHECK(more(13, SYS_newfstatat) <= more(3, SYS_newfstatat) + 4);
    CHECK(more(13, SYS_openat) <= more(3, SYS_openat) + 4);
}

TEST_CASE("A keeper at rest takes up a new topic, and lets one go, when the directory says so") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("old", small());
    const Resting resting(broker);
    const std::uint64_t steps = resting.statistics().steps;
    broker.create_topic("new", small());
    CHECK(wait_for([&] { return resting.statistics().topics == 2; }));
    broker.delete_topic("new");
    CHECK(resting.tells(KeeperEventKind::topic_gone));
    CHECK(resting.statistics().steps > steps);
    CHECK(resting.statistics().longest_step >= resting.statistics().last_step);
    CHECK(resting.statistics().longest_step_of_minute == resting.statistics().longest_step);
}

TEST_CASE("A keeper at rest notices the death of a producer, and a file that goes, at once") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    Child child([&] { return test::take_tickets_and_stay(scratch.broker(), "t", 0); });
    REQUIRE(wait_for([&] { return broker.describe_topic("t").partitions[0].producers.size() == 1; }));
    const Resting resting(broker);
    CHECK(resting.statistics().watched_clients == 2);
    child.kill();
    CHECK(resting.tells(KeeperEventKind::producer_reaped));
    std::filesystem::remove(topics_path(scratch.broker()) / "t" / "0.log");
    CHECK(resting.tells(KeeperEventKind::partition_unreadable));
}

TEST_CASE("A keeper at rest notices the death of a client that came while it rested, at once") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    const Resting resting(broker);
    Child child([&] { return test::take_tickets_and_stay(scratch.broker(), "t", 0); });
    CHECK(wait_for([&] { return resting.statistics().watched_clients == 2; }));
    child.kill();
    CHECK(resting.tells(KeeperEventKind::producer_reaped));
}

TEST_CASE("A keeper at rest closes the ticket of a stopped producer for a reader that may not write anything") {
    const bool may_ask = GENERATE(false, true);  // by the readers file
    if (::geteuid() != 0)
        SKIP("needs the right to become another user");
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    const std::filesystem::path topic = topics_path(scratch.broker()) / "t";
    if (may_ask)
        std::filesystem::permissions(topic / "readers", std::filesystem::perms(0666));
    const Resting resting(broker);
    const test::MappedLog mapped(scratch.broker(), "t");
    const Child holder([&] { return test::take_tickets_and_stay(scratch.broker(), "t", 1); });
    REQUIRE(test::wait_for_end(mapped, 1));
    Child reader([&] {
        if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return 1;
        Consumer consumer{Broker(scratch.broker())};
        consumer.assign("t");
        for (int i = 0; i < 10'000 && consumer.position("t", 0) == 0; ++i)
            (void)consumer.poll(1, 1ms);
        return consumer.position("t", 0) == 1 ? 0 : 2;
    });
    CHECK(reader.wait() == 0);
    CHECK(resting.tells(KeeperEventKind::tickets_closed));
}
