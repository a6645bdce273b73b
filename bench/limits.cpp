// What can this machine do at best between two processes?
#include "bench/limits/limits.hpp"

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

void add_latencies(Contest& contest, CpuPair cpus) {
    const ContestOptions& options = contest.options();
    contest.add({"line ping-pong", "ns", "half a round trip of one cache line, p50",
                 [=] { return latency_sample(line_ping_pong(cpus, options.scaled(1'000'000, 1000))); }});
    contest.add({"two-line ping-pong", "ns", "half a round trip with a line for each direction, p50",
                 [=] { return latency_sample(two_line_ping_pong(cpus, options.scaled(1'000'000, 1000))); }});
    contest.add({"futex wake to run", "ns", "from before FUTEX_WAKE to the woken process running, p50",
                 [=] { return latency_sample(futex_wake_to_run(cpus, options.scaled(1'000, 20))); }});
}

void add_streams(Contest& contest, CpuPair cpus) {
    const ContestOptions& options = contest.options();
    for (const auto& [name, bytes] : {std::pair{"16 KiB", 16 * kKiB}, {"256 KiB", 256 * kKiB}, {"64 MiB", 64 * kMiB}}) {
        contest.add({std::string("lines through ") + name, "lines/s",
                     "64-byte lines written, streamed through a ring, read", [=, ring = bytes] {
                         return Sample{line_stream_per_s(cpus, ring, options.scaled(20'000'000, 100'000)), {}};
                     }});
    }
    for (const auto& [name, bytes] : {std::pair{"1 MiB", kMiB}, {"16 MiB", 16 * kMiB}}) {
        contest.add({std::string("bulk copy through ") + name, "B/s", "16 KiB blocks copied into a ring and out of it",
                     [=, ring = bytes] {
                         return Sample{bulk_copy_bytes_per_s(cpus, ring, 16 * kKiB, options.scaled(200'000, 2000)), {}};
                     }});
    }
    contest.add({"memcpy within 16 KiB", "B/s", "one process, 16 KiB to 16 KiB", [=] {
                     return Sample{memcpy_bytes_per_s(cpus.first, 16 * kKiB, options.scaled(1'000'000, 2000)), {}};
                 }});
    contest.add({"memcpy to 64 MiB", "B/s", "one process, 16 KiB blocks into 64 MiB in turn", [=] {
                     return Sample{memcpy_bytes_per_s(cpus.first, 64 * kMiB, options.scaled(100'000, 2000)), {}};
                 }});
}

void add_words(Contest& contest, CpuPair cpus) {
    const ContestOptions& options = contest.options();
    contest.add({"contended fetch-add", "1/s", "two processes on one word, both together", [=] {
                     return Sample{contended_fetch_add_per_s(cpus, options.scaled(20'000'000, 10'000)), {}};
                 }});
    const auto clock = [=](double ClockCosts::*cost) {
        return [=] { return Sample{clock_costs(cpus.first, options.scaled(2'000'000, 10'000)).*cost, {}}; };
    };
    contest.add({"processor counter", "ns", "one reading, ordered after earlier loads", clock(&ClockCosts::ticks_ns)});
    contest.add({"CLOCK_REALTIME", "ns", "one reading", clock(&ClockCosts::realtime_ns)});
    contest.add({"CLOCK_REALTIME_COARSE", "ns", "one reading", clock(&ClockCosts::realtime_coarse_ns)});
    contest.add({"CLOCK_MONOTONIC", "ns", "one reading", clock(&ClockCosts::monotonic_ns)});
}

}  // namespace

int main(int argc, char** argv) {
    return contest_main(argc, argv, "limits", "What can this machine do at best between two processes?",
                        [](Contest& contest) {
                            const CpuPair cpus{contest.options().cpus[0], contest.options().cpus[1]};
                            add_latencies(contest, cpus);
                            add_streams(contest, cpus);
                            add_words(contest, cpus);
                        });
}
