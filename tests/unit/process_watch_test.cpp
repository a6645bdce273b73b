// Waking up when a process ends.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

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

void end(pid_t child) {
    REQUIRE(::kill(child, SIGKILL) == 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
}

}  // namespace

TEST_CASE("A wait ends when a watched process ends, once") {
    ProcessWatch watch;
    const pid_t child = start_sleeper();
    const std::uint32_t pid = static_cast<std::uint32_t>(child);
    watch.watch({&pid, 1});
    const auto from = Clock::now();
    std::jthread killer([child] {
        std::this_thread::sleep_for(20ms);
        ::kill(child, SIGKILL);
    });
    watch.wait(kLong);
    CHECK(Clock::now() - from < kLong / 2);
    killer.join();
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    const auto again = Clock::now();
    watch.wait(30ms);  // it was told: this lasts its time
    CHECK(Clock::now() - again >= 30ms);
}

TEST_CASE("An interruption ends a wait, or the next one, from another thread") {
    ProcessWatch watch;
    std::jthread other([&] { watch.interrupt(); });
    const auto from = Clock::now();
    watch.wait(kLong);
    CHECK(Clock::now() - from < kLong / 2);
    const auto again = Clock::now();
    watch.wait(20ms);
    CHECK(Clock::now() - again >= 20ms);
}

TEST_CASE("Processes that are gone, or never were, are no trouble to a watch") {
    ProcessWatch watch;
    const pid_t child = start_sleeper();
    end(child);
    const std::uint32_t pids[] = {static_cast<std::uint32_t>(child), 0, 4'000'000'000U};
    watch.watch(pids);
    const auto from = Clock::now();
    watch.wait(10ms);
    CHECK(Clock::now() - from >= 10ms);
    watch.watch({});
    watch.wait(0s);
}
