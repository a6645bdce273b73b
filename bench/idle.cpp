// How much processor time does a consumer use that has nothing to read?
//
// A consumer process waits in one blocking poll while nobody publishes; the kernel's count of its processor time is
// read from outside. Then how long a publish takes to wake it.
#include <time.h>

#include <atomic>
#include <thread>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/limits/limits.hpp"

namespace {

using namespace ringmain::bench;
using ringmain::WaitStrategy;

constexpr const char* kTopic = "quiet";

struct Board {
    alignas(128) StartBarrier start;
    std::atomic<std::uint64_t> sent_at{0};
    std::atomic<std::uint64_t> received{0};
    Histogram ns;
};

double cpu_us(pid_t child) {
    clockid_t clock = 0;
    timespec used{};
    if (::clock_getcpuclockid(child, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
        throw Skipped("the processor time of another process cannot be read");
    }
    return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
}

ringmain::Consumer blocked_consumer(const std::filesystem::path& directory) {
    ringmain::Consumer consumer(ringmain::Broker(directory), {.wait = WaitStrategy::block});
    consumer.assign(kTopic);
    return consumer;
}

/// Microseconds of processor time in each second of waiting.
Sample measure_idle(const ContestOptions& options, ScratchBroker& scratch) {
    const std::filesystem::path directory = scratch.broker().directory();
    const std::chrono::duration<double> window(options.scale < 1 ? 0.2 : 1.0);
    scratch.broker().create_topic(kTopic);
    double used_us = 0;
    {
        Shared<Board> board;
        ChildGroup group;
        const pid_t child = group.start(options.cpus[1], [&] {
            ringmain::Consumer consumer = blocked_consumer(directory);
            board->start.arrive_and_wait(2);
            require_ok(consumer.poll(256, std::chrono::minutes(10)).status);
        });
        board->start.arrive_and_wait(2);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it is asleep by now
        const double from = cpu_us(child);
        std::this_thread::sleep_for(window);
        used_us = cpu_us(child) - from;
    }
    scratch.broker().delete_topic(kTopic);
    return {used_us / window.count(), {}};
}

void publish_slowly(const std::filesystem::path& directory, Board& board, std::uint64_t records) {
    LibrarySender<40, Send::copy> sender(directory, kTopic, {});
    board.start.arrive_and_wait(2);
    for (std::uint64_t i = 0; i < records; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        board.sent_at.store(ticks_now(), std::memory_order_relaxed);  // relaxed: the record publishes it
        sender.send(i);
        while (board.received.load(std::memory_order_acquire) != i + 1)
            std::this_thread::yield();
    }
}

void receive_slowly(const std::filesystem::path& directory, Board& board, std::uint64_t records) {
    ringmain::Consumer consumer = blocked_consumer(directory);
    board.start.arrive_and_wait(2);
    for (std::uint64_t received = 0; received < records;) {
        const ringmain::PollResult result = consumer.poll(1, std::chrono::seconds(1));
        const std::uint64_t now = ticks_now();
        require_ok(result.status);
        if (result.records.empty())
            continue;
        const std::uint64_t sent = board.sent_at.load(std::memory_order_relaxed);  // relaxed: ordered by the record
        board.ns.record(static_cast<std::uint64_t>(ticks_to_ns(now > sent ? now - sent : 0)));
        board.received.store(++received, std::memory_order_release);
    }
}

Sample measure_wake(const ContestOptions& options, ScratchBroker& scratch) {
    const std::filesystem::path directory = scratch.broker().directory();
    const std::uint64_t records = options.scaled(600, 20);
    scratch.broker().create_topic(kTopic);
    Shared<Board> board;
    {
        ChildGroup group;
        group.start(options.cpus[0], [&] { publish_slowly(directory, *board, records); });
        group.start(options.cpus[1], [&] { receive_slowly(directory, *board, records); });
        group.wait();
    }
    scratch.broker().delete_topic(kTopic);
    return latency_sample(board->ns);
}

}  // namespace

int main(int argc, char** argv) {
    const char* question =
        "How much processor time does a consumer use that has nothing to read, and how fast does it wake?";
    return contest_main(argc, argv, "idle", question, [](Contest& contest) {
        static ScratchBroker scratch;
        const ContestOptions& options = contest.options();
        contest.add({"idle blocked consumer", "us/s", "processor time per second of waiting",
                     [&options] { return measure_idle(options, scratch); }});
        contest.add(
            {"futex wake to run", "ns", "the bare system call, p50", [&options] {
                 return latency_sample(futex_wake_to_run({options.cpus[0], options.cpus[1]}, options.scaled(600, 20)));
             }});
        contest.add({"publish to a sleeping consumer", "ns", "from before publish to poll's return, p50",
                     [&options] { return measure_wake(options, scratch); }});
        contest.compare({"processor time of an idle consumer, us per s", "idle blocked consumer", "",
                         Wanted{Relation::at_most, 1000}});
        contest.compare(
            {"publish to a sleeping consumer / futex wake", "publish to a sleeping consumer", "futex wake to run", {}});
    });
}
