// Waking up when a process ends.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "platform/process_watch.hpp"
#include "support/catch.hpp"

using namespace ringmain::platform;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

/// Long enough that only a wake-up can end it before a test's own patience does.
constexpr auto kLong = 60s;

pid_t start_sleeper() {
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;)
            ::pause();
    }
    REQUIRE(child > 0);
    return child;
}

ProcessIdentity identity_of(pid_t child) {
    const auto pid = static_cast<std::uint32_t>(child);
    return {pid, this_process().pid_namespace, start_ticks_of(pid)};
}

void end(pid_t child) {
    REQUIRE(::kill(child, SIGKILL) == 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
}

}  // namespace

TEST_CASE("A wait ends when a watched process ends, once") {
    ProcessWatch watch;
    const pid_t child = start_sleeper();
    const ProcessIdentity process = identity_of(child);
    watch.watch({&process, 1});
    CHECK(watch.watched() == 1);
    const auto from = Clock::now();
    std::jthread killer([child] {
        std::this_thread::sleep_for(20ms);
        ::kill(child, SIGKILL);
    });
    CHECK(watch.wait(kLong));
    CHECK(Clock::now() - from < kLong / 2);
    CHECK(watch.watched() == 0);
    killer.join();
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    const auto again = Clock::now();
    CHECK_FALSE(watch.wait(30ms));  // it was told: this lasts its time
    CHECK(Clock::now() - again >= 30ms);
}

TEST_CASE("An interruption ends a wait, or the next one, from another thread") {
    ProcessWatch watch;
    std::jthread other([&] { watch.interrupt(); });
    const auto from = Clock::now();
    CHECK_FALSE(watch.wait(kLong));
    CHECK(Clock::now() - from < kLong / 2);
    const auto again = Clock::now();
    CHECK_FALSE(watch.wait(20ms));
    CHECK(Clock::now() - again >= 20ms);
}

TEST_CASE("Processes that are gone, or never were, are no trouble to a watch") {
    ProcessWatch watch;
    const pid_t child = start_sleeper();
    const ProcessIdentity gone = identity_of(child);
    end(child);
    const std::uint64_t here = gone.pid_namespace;
    const ProcessIdentity processes[] = {gone, {0, here, 1}, {4'000'000'000U, here, 1}, {}};
    watch.watch(processes);
    CHECK(watch.watched() == 0);
    const auto from = Clock::now();
    CHECK_FALSE(watch.wait(10ms));
    CHECK(Clock::now() - from >= 10ms);
    watch.watch({});
    CHECK_FALSE(watch.wait(0s));
}

TEST_CASE("A process is watched only if namespace and start time say that the pid is its own") {
    ProcessWatch watch;
    const pid_t child = start_sleeper();
    const ProcessIdentity process = identity_of(child);
    ProcessIdentity foreign = process;
    ++foreign.pid_namespace;
    ProcessIdentity earlier = process;
    --earlier.start_ticks;
    ProcessIdentity nowhere = process;
    nowhere.pid_namespace = 0;
    ProcessIdentity unknown = process;
    unknown.start_ticks = 0;
    for (const ProcessIdentity& other : {foreign, earlier, nowhere, unknown}) {
        watch.watch({&other, 1});
        CHECK(watch.watched() == 0);
    }
    const ProcessIdentity both[] = {process, foreign};  // the same pid, two processes
    watch.watch(both);
    CHECK(watch.watched() == 1);
    end(child);
    CHECK(watch.wait(kLong));
    CHECK_FALSE(watch.wait(0s));
}

TEST_CASE("A watch takes no more than its share of the descriptors, and watches on when some are free again") {
    ProcessWatch watch;
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit few{2 * ProcessWatch::kDescriptorsShare, limit.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    std::vector<pid_t> children;
    std::vector<ProcessIdentity> processes;
    for (int i = 0; i < 3; ++i) {
        children.push_back(start_sleeper());
        processes.push_back(identity_of(children.back()));
    }
    watch.watch(processes);
    const std::size_t some = watch.watched();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    watch.watch(processes);
    const std::size_t all = watch.watched();
    for (const pid_t child : children)
        end(child);
    CHECK(some <= 2);
    CHECK(all == 3);
}

TEST_CASE("A descriptor that is added ends waits while it is readable") {
    Event event;
    ProcessWatch watch;
    watch.add(event.descriptor());
    CHECK_FALSE(watch.wait(0s));
    event.signal();
    const auto from = Clock::now();
    CHECK_FALSE(watch.wait(kLong));
    CHECK(Clock::now() - from < kLong / 2);
    event.clear();
    CHECK_FALSE(watch.wait(0s));
}
