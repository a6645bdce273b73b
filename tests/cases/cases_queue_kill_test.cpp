// SIGKILL before and after every system call of creating, resetting and deleting a queue: others find none or a whole one, and
// a keeper removes what is left.
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ringmain/keeper.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/queue_place.hpp"
#include "support/syscall_tracer.hpp"

using namespace ringmain;
using test::QueuePlace;
using test::TestWorker;
using test::thrown_by;

namespace {

/// A topic, and queues that others kill in the making.
struct Place : QueuePlace {
    Place() {
        topic->publish(0, 6);
        topic->publish(1, 2);
        keep();
    }
    /// One that finds what a dead process left.
    void keep() {
        Keeper keeper(broker);
        for (int second = 1; second < 4; ++second) (void)keeper.do_work(std::chrono::seconds(second));
    }
    /// Every queue has a directory with its three files, and there is nothing else.
    [[nodiscard]] bool nothing_is_left() {
        std::set<std::string> wanted;
        for (const QueueSummary& queue : admin->list("t")) wanted.insert(work_of(queue.name).filename().string());
        for (const std::string& name : queue_directories()) {
            if (wanted.erase(name) == 0 || names_in(directory() / "queues" / name).size() > 3) return false;
        }
        return wanted.empty() && broker.verify("t").damage.empty();
    }
};

/// Kills `body` at every stop in turn; `check` looks at what is left each time. Returns the number of kills.
std::uint64_t kill_everywhere(const std::function<void()>& body, const std::function<void()>& check) {
    std::uint64_t stop = 0;
    for (; test::run_killed_at(stop, body); ++stop) {
        INFO("killed at stop " << stop);
        check();
    }
    check();
    return stop;
}

}  // namespace

TEST_CASE("E01 The creation of a queue killed anywhere leaves no queue or a whole one, and nothing that a keeper does not sweep") {
    if (!test::can_trace()) SKIP("needs the right to trace");
    Place place;
    int whole = 0;
    const auto create = [&] { QueueAdmin(Broker(place.scratch.broker())).create("t", "q", QueuePlace::plain()); };
    const auto check = [&] {
        const auto listed = place.admin->list("t");
        whole += static_cast<int>(listed.size());
        if (!listed.empty()) {
            TestWorker worker(place.broker, "t", "q");
            const auto locks = worker.acquire(6);
            REQUIRE(locks.size() == 6);
            for (const auto& lock : locks) REQUIRE(worker.ack(lock) == work_table::Answer::done);
            worker.leave();
        }
        place.keep();
        REQUIRE(place.nothing_is_left());
        (void)place.admin->ensure("t", "q", QueuePlace::plain());
        REQUIRE(place.nothing_is_left());
        place.admin->remove("t", "q");
        REQUIRE(place.queue_directories().empty());
    };
    CHECK(kill_everywhere(create, check) > 60);
    CHECK(whole > 0);
    // no slot of the topic's three is lost to the dead
    for (const char* name : {"a", "b", "c"}) place.admin->create("t", name, QueuePlace::plain());
}

TEST_CASE("E01 The reset of a queue killed anywhere is finished by the same plan, and leaves no words of other times") {
    if (!test::can_trace()) SKIP("needs the right to trace");
    Place place;
    place.admin->create("t", "q", QueuePlace::plain());
    int half = 0;
    ResetPlan plan = place.admin->plan("t", "q", ResetTarget::at(1));
    const auto reset = [&] { (void)QueueAdmin(Broker(place.scratch.broker())).execute(plan); };
    const auto check = [&] {
        const auto queue = place.admin->describe("t", "q");
        half += queue.partitions[0].generation != queue.partitions[1].generation ? 1 : 0;
        place.keep();
        REQUIRE(place.broker.verify("t").damage.empty());
        REQUIRE(QueuePlace::names_in(place.work_of("q")).size() <= 4);  // one that nobody used yet at most
        place.admin->execute(plan);
        for (const auto& partition : place.admin->describe("t", "q").partitions) REQUIRE(partition.lag.position == 1);
        TestWorker worker(place.broker, "t", "q");
        REQUIRE(worker.acquire(8).size() == 5);
        worker.leave();
        place.admin->execute(place.admin->plan("t", "q", ResetTarget::earliest()));
        place.keep();
        REQUIRE(place.nothing_is_left());
        plan = place.admin->plan("t", "q", ResetTarget::at(1));
    };
    CHECK(kill_everywhere(reset, check) > 60);
    CHECK(half > 10);
}

TEST_CASE("E01 The deletion of a queue killed anywhere leaves it whole or gone, and its name usable") {
    if (!test::can_trace()) SKIP("needs the right to trace");
    Place place;
    int gone = 0;
    place.admin->create("t", "q", QueuePlace::plain());
    const auto remove = [&] { QueueAdmin(Broker(place.scratch.broker())).remove("t", "q"); };
    const auto check = [&] {
        gone += place.admin->list("t").empty() ? 1 : 0;
        place.keep();
        REQUIRE(place.nothing_is_left());
        (void)place.admin->ensure("t", "q", QueuePlace::plain());
        REQUIRE(place.admin->describe("t", "q").partitions[0].available == 6);
    };
    CHECK(kill_everywhere(remove, check) > 10);
    CHECK(gone > 3);
}
