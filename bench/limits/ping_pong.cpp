// Bare cache-line ping-pong: the lowest latency two cores can have.
#include <array>
#include <atomic>

#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "bench/limits/limits.hpp"

namespace ringmain::bench {
namespace {

struct Board {
    alignas(128) std::atomic<std::uint64_t> there{0};
    alignas(128) std::atomic<std::uint64_t> back{0};
    alignas(128) StartBarrier start;
    Histogram half_ns;
};

void await(const std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
    while (word.load(std::memory_order_acquire) != value) {
    }
}

/// `back` may be the same word as `there`: then one line carries both directions.
Histogram ping_pong(CpuPair cpus, std::uint64_t round_trips, bool one_line) {
    Shared<Board> board;
    std::atomic<std::uint64_t>& there = board->there;
    std::atomic<std::uint64_t>& back = one_line ? board->there : board->back;
    const std::uint64_t warm = round_trips / 10;
    tick_ns();
    ChildGroup group;
    group.start(cpus.first, [&] {
        board->start.arrive_and_wait(2);
        std::uint64_t from = ticks_now();
        for (std::uint64_t i = 1; i <= round_trips; ++i) {
            there.store(2 * i - 1, std::memory_order_release);
            await(back, 2 * i);
            const std::uint64_t to = ticks_now();
            if (i > warm)
                board->half_ns.record(static_cast<std::uint64_t>(ticks_to_ns(to - from) / 2));
            from = ticks_now();
        }
    });
    group.start(cpus.second, [&] {
        board->start.arrive_and_wait(2);
        for (std::uint64_t i = 1; i <= round_trips; ++i) {
            await(there, 2 * i - 1);
            back.store(2 * i, std::memory_order_release);
        }
    });
    group.wait();
    return board->half_ns;
}

}  // namespace

Histogram line_ping_pong(CpuPair cpus, std::uint64_t round_trips) { return ping_pong(cpus, round_trips, true); }

Histogram two_line_ping_pong(CpuPair cpus, std::uint64_t round_trips) { return ping_pong(cpus, round_trips, false); }

}  // namespace ringmain::bench
