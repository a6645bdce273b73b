// Family F: who is alive? A wrong "dead" must never happen, whatever pids, namespaces, pauses and forks do.
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cases/open_ticket.hpp"
#include "crash/shared_bytes.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;

namespace {

constexpr const char* kTopic = "events";

// Words that a child and its test share.
struct Shared {
    crash::SharedBytes bytes{4096};
    std::atomic<std::uint64_t>* words = new (bytes.data()) std::atomic<std::uint64_t>[8] {};

    void set(int at, std::uint64_t value) const { words[at].store(value, std::memory_order_release); }
    [[nodiscard]] std::uint64_t get(int at) const { return words[at].load(std::memory_order_acquire); }
    [[nodiscard]] bool wait_for(int at, std::uint64_t value, std::chrono::milliseconds timeout = 10s) const {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (get(at) < value) {
            if (std::chrono::steady_clock::now() > deadline)
                return false;
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }
};

struct Place {
    test::ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
    Keeper keeper{broker};
    std::chrono::seconds now{0};

    Place() {
        TopicOptions options;
        options.records = 1024;
        options.producer_slots = 4;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 16;
        (void)broker.create_topic(kTopic, options);
    }
    // Many steps, hours of the keeper's time. Returns how many producers were declared dead.
    std::uint64_t keep() {
        std::uint64_t reaped = 0;
        for (int i = 0; i < 30; ++i)
            reaped += keeper.do_work(now += 600s).reaped_producers;
        return reaped;
    }
    // As keep(), until one producer is reaped or ten seconds are over: the kernel may take its time to close files.
    bool keep_until_reaped() {
        for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(10ms)) {
            if (keep() != 0)
                return true;
        }
        return false;
    }
    [[nodiscard]] std::size_t producers() const {
        return broker.describe_topic(kTopic).partitions.at(0).producers.size();
    }
};

ProducerRecord record(std::string_view value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    record.partition = 0;
    return record;
}

// Attaches, says so in word 0, and publishes once each time word 1 grows; word 2 counts, word 3 gets a wrong answer.
int publish_on_demand(const std::filesystem::path& directory, const Shared& shared) {
    const Broker broker(directory);
    Producer producer(broker, kTopic);
    producer.attach(0);
    shared.set(4, static_cast<std::uint64_t>(::getpid()));
    shared.set(0, 1);
    for (std::uint64_t done = 0;;) {
        if (shared.get(1) == done) {
            std::this_thread::sleep_for(1ms);
            continue;
        }
        const Status status = producer.publish(record("on demand")).status;
        if (status != Status::ok)
            shared.set(3, static_cast<std::uint64_t>(status));
        shared.set(2, ++done);
    }
}

// Subscribes, says so in word 0, and polls for ever.
int be_a_member(const std::filesystem::path& directory, const Shared& shared) {
    const Broker broker(directory);
    GroupOptions group;
    group.name = "readers";
    Consumer consumer(broker, group);
    consumer.subscribe(kTopic);
    for (;;) {
        (void)consumer.poll(16, 5ms);
        shared.set(0, 1);
    }
}

// A child of a new pid namespace with its own /proc: pid 1 there. Exit code 77: the kernel refused.
int in_new_pid_namespace(const std::function<int()>& body) {
    if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
        return 77;
    test::Child inner([&] {
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        if (::mount("proc", "/proc", "proc", 0, nullptr) != 0)
            return 77;
        return body();
    });
    return inner.wait(60s);
}

}  // namespace

TEST_CASE("F01 a producer that is pid 1 of its own pid namespace is alive until it is killed") {
    Place place;
    const Shared shared;
    test::Child outer(
        [&] { return in_new_pid_namespace([&] { return publish_on_demand(place.scratch.broker(), shared); }); });
    if (!shared.wait_for(0, 1, 3s)) {
        if (outer.wait(1s) == 77)
            SKIP("the kernel does not give this process a pid namespace");
        FAIL("the producer did not start");
    }
    CHECK(shared.get(4) == 1);  // to itself it is pid 1, which means somebody else out here
    CHECK(place.keep() == 0);
    // nobody watches the pid 1 out here: the keeper has a pidfd of this process alone, and asks for the other's lock
    CHECK(place.keeper.statistics().clients == 2);
    CHECK(place.keeper.statistics().watched_clients == 1);
    CHECK(place.producers() == 1);
    shared.set(1, 1);
    CHECK(shared.wait_for(2, 1));
    CHECK(shared.get(3) == 0);
    outer.kill();  // its child dies with it
    CHECK(place.keep_until_reaped());
    CHECK(place.producers() == 0);
}

TEST_CASE("F01 two pid namespaces with equal pids tell each other apart") {
    Place place;
    const Shared first;
    const Shared second;
    test::Child a(
        [&] { return in_new_pid_namespace([&] { return publish_on_demand(place.scratch.broker(), first); }); });
    if (!first.wait_for(0, 1, 3s))
        SKIP("the kernel does not give this process a pid namespace");
    test::Child b([&] {
        return in_new_pid_namespace([&] {
            const Broker broker(place.scratch.broker());
            const Keeper keeper(broker);  // throws: the keeper outside holds the lock
            return 3;
        });
    });
    CHECK(b.wait() == 99);  // refused: one keeper per directory, also across namespaces
    test::Child c(
        [&] { return in_new_pid_namespace([&] { return publish_on_demand(place.scratch.broker(), second); }); });
    REQUIRE(second.wait_for(0, 1));
    CHECK(first.get(4) == second.get(4));
    CHECK(place.keep() == 0);
    CHECK(place.producers() == 2);
    c.kill();
    CHECK(place.keep_until_reaped());
    CHECK(place.producers() == 1);
    first.set(1, 1);
    CHECK(first.wait_for(2, 1));
    CHECK(first.get(3) == 0);
}

TEST_CASE("F01 a member of a group that is pid 1 of its own pid namespace is a member until it is killed") {
    Place place;
    const Shared shared;
    test::Child outer(
        [&] { return in_new_pid_namespace([&] { return be_a_member(place.scratch.broker(), shared); }); });
    if (!shared.wait_for(0, 1, 3s)) {
        if (outer.wait(1s) == 77)
            SKIP("the kernel does not give this process a pid namespace");
        FAIL("the member did not start");
    }
    KeeperReport report;
    for (int i = 0; i < 30; ++i)
        report.evicted_members += place.keeper.do_work(place.now += 1s).evicted_members;
    CHECK(report.evicted_members == 0);
    CHECK(place.keeper.statistics().watched_clients == 1);  // this process
    CHECK(GroupAdmin(place.broker).describe(kTopic, "readers").members.size() == 1);
    outer.kill();
    for (int i = 0; i < 1000 && report.evicted_members == 0; ++i, std::this_thread::sleep_for(10ms))
        report.evicted_members += place.keeper.do_work(place.now += 1s).evicted_members;
    CHECK(report.evicted_members == 1);
    CHECK(GroupAdmin(place.broker).describe(kTopic, "readers").members.empty());
}

TEST_CASE("F03 a keeper's pidfds are those of its clients, also when a pid is used again") {
    Place place;
    const Shared first;
    const Shared second;
    const auto keep_here = [&] {
        const auto begin = [](std::uint64_t last_pid, const Shared& shared, const std::filesystem::path& directory) {
            std::ofstream("/proc/sys/kernel/ns_last_pid") << last_pid;
            return test::Child([&] { return publish_on_demand(directory, shared); });
        };
        const Broker broker(place.scratch.broker());
        std::atomic<int> reaped{0};
        Keeper keeper(broker, [&](const KeeperEvent& event) { reaped += event.kind == KeeperEventKind::producer_reaped ? 1 : 0; });
        const auto reaps = [&](int count) {
            for (int i = 0; i < 5'000 && reaped < count; ++i, std::this_thread::sleep_for(1ms)) {
            }
            return reaped == count;
        };
        std::jthread worker([&](std::stop_token stop) { keeper.run(stop); });
        test::Child dying = begin(50, first, place.scratch.broker());
        if (!first.wait_for(0, 1)) return 1;
        const auto pid = static_cast<std::uint64_t>(dying.pid());
        dying.kill();
        test::Child reborn = begin(pid - 1, second, place.scratch.broker());
        if (static_cast<std::uint64_t>(reborn.pid()) != pid) return 77;
        if (!second.wait_for(0, 1)) return 2;
        if (!reaps(1)) return 3;
        second.set(1, 1);
        if (!second.wait_for(2, 1) || second.get(3) != 0) return 4;  // it is alive, and was not taken for the dead one
        for (int i = 0; i < 5'000 && keeper.statistics().watched_clients != 1; ++i, std::this_thread::sleep_for(1ms)) {
        }
        if (keeper.statistics().watched_clients != 1) return 5;  // the one who made the topic lives outside
        reborn.kill();
        return reaps(2) ? 0 : 6;
    };
    // the keeper inside is the directory's only one
    const test::ScratchDirectory other;
    place.keeper = Keeper(Broker(other.broker(), Broker::Mode::open_or_create));
    test::Child outer([&] { return in_new_pid_namespace(keep_here); });
    const int code = outer.wait(60s);
    if (code == 77)
        SKIP("no pid namespace in which a pid can be used again");
    CHECK(code == 0);
}

TEST_CASE("F03 a restarted process with the pid of the dead one is another client") {
    Place place;
    const Shared first;
    const Shared second;
    const auto restart_with_same_pid = [&] {
        const auto begin = [](std::uint64_t last_pid, const std::function<int()>& body) {
            std::ofstream("/proc/sys/kernel/ns_last_pid") << last_pid;
            return test::Child(body);
        };
        test::Child dying = begin(50, [&] { return publish_on_demand(place.scratch.broker(), first); });
        if (!first.wait_for(0, 1))
            return 1;
        const auto pid = static_cast<std::uint64_t>(dying.pid());
        dying.kill();
        test::Child reborn = begin(pid - 1, [&] { return publish_on_demand(place.scratch.broker(), second); });
        if (static_cast<std::uint64_t>(reborn.pid()) != pid)
            return 77;
        return reborn.wait(60s);
    };
    test::Child outer([&] { return in_new_pid_namespace(restart_with_same_pid); });
    if (!second.wait_for(0, 1, 3s)) {
        outer.kill();
        SKIP("no pid namespace in which a pid can be used again");
    }
    CHECK(first.get(4) == second.get(4));
    CHECK(place.keep_until_reaped());  // the dead one, and only that
    CHECK(place.keep() == 0);
    CHECK(place.producers() == 1);
    second.set(1, 1);
    CHECK(second.wait_for(2, 1));
    CHECK(second.get(3) == 0);
}

TEST_CASE("F05 a producer starved by load is alive") {
    Place place;
    const Shared shared;
    test::Child producer([&] {
        ::setpriority(PRIO_PROCESS, 0, 19);
        return publish_on_demand(place.scratch.broker(), shared);
    });
    REQUIRE(shared.wait_for(0, 1));
    std::vector<test::Child> hogs;
    for (int i = 0; i < 4; ++i) {
        hogs.emplace_back([]() -> int {
            for (std::atomic<std::uint64_t> n{0};;)
                n.fetch_add(1, std::memory_order_relaxed);
        });
    }
    const auto until = std::chrono::steady_clock::now() + 1s;
    while (std::chrono::steady_clock::now() < until)
        REQUIRE(place.keep() == 0);
    hogs.clear();
    shared.set(1, 1);
    CHECK(shared.wait_for(2, 1));
    CHECK(shared.get(3) == 0);
}

TEST_CASE("F06 a producer stopped by a debugger or Ctrl-Z is alive for any time, and its next publish arrives") {
    Place place;
    const Shared shared;
    test::Child producer([&] { return publish_on_demand(place.scratch.broker(), shared); });
    REQUIRE(shared.wait_for(0, 1));
    for (std::uint64_t round = 1; round <= 20; ++round) {
        producer.signal(SIGSTOP);
        REQUIRE(place.keep() == 0);  // five hours of the keeper's time
        producer.signal(SIGCONT);
        shared.set(1, round);
        REQUIRE(shared.wait_for(2, round));
        REQUIRE(shared.get(3) == 0);
    }
}

TEST_CASE("alive: the end of the thread that attached is not the death of the process") {
    Place place;
    const Shared shared;
    test::Child child([&]() -> int {
        std::unique_ptr<Producer> producer;
        const Broker broker(place.scratch.broker());
        std::thread([&] {
            producer = std::make_unique<Producer>(broker, kTopic);
            producer->attach(0);
        }).join();
        shared.set(0, 1);
        (void)shared.wait_for(1, 1);
        shared.set(3, static_cast<std::uint64_t>(producer->publish(record("x")).status));
        shared.set(2, 1);
        for (;;)
            ::pause();
    });
    REQUIRE(shared.wait_for(0, 1));
    CHECK(place.keep() == 0);
    shared.set(1, 1);
    CHECK(shared.wait_for(2, 1));
    CHECK(shared.get(3) == 0);
    CHECK(place.producers() == 1);
}

TEST_CASE("alive: a fork()ed child neither ends its parent's life when it exits nor prolongs it") {
    Place place;
    const Shared shared;
    test::Child parent([&]() -> int {
        const Broker broker(place.scratch.broker());
        Producer producer(broker, kTopic);
        producer.attach(0);
        const pid_t quick = ::fork();
        if (quick == 0)
            ::_exit(producer.publish(record("inherited")).status == Status::forked ? 0 : 1);
        int status = 0;
        ::waitpid(quick, &status, 0);
        shared.set(3, static_cast<std::uint64_t>(status));
        const pid_t slow = ::fork();  // outlives its parent
        if (slow == 0) {
            (void)shared.wait_for(5, 1, 30s);
            ::_exit(0);
        }
        shared.set(2, static_cast<std::uint64_t>(producer.publish(record("still alive")).status) + 1);
        shared.set(0, 1);
        for (;;)
            ::pause();
    });
    REQUIRE(shared.wait_for(0, 1));
    CHECK(shared.get(3) == 0);  // the handle in the child answered `forked`
    CHECK(shared.get(2) == 1);  // and the parent's still worked after the child had ended
    CHECK(place.keep() == 0);
    parent.kill();
    CHECK(place.keep_until_reaped());
    CHECK(place.producers() == 0);
    shared.set(5, 1);
}

TEST_CASE("alive: a process that dumps core is dead only when the kernel says so, and then at once recycled") {
    Place place;
    const Shared shared;
    test::Child producer([&] {
        const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
        ::setrlimit(RLIMIT_CORE, &unlimited);
        if (::chdir(place.scratch.path().c_str()) != 0)
            return 3;  // where a core file would go with the directory
        ::signal(SIGABRT, SIG_DFL);
        return publish_on_demand(place.scratch.broker(), shared);
    });
    REQUIRE(shared.wait_for(0, 1));
    CHECK(place.keep() == 0);
    producer.signal(SIGABRT);
    const int code = producer.wait(30s);
    CHECK(code == 128 + SIGABRT);
    CHECK(place.keep_until_reaped());
    CHECK(place.producers() == 0);
}
