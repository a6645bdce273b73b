// Single words: a contended addition, a futex wake-up, the reading of a clock.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "bench/limits/limits.hpp"

namespace ringmain::bench {
namespace {

struct AddBoard {
    alignas(128) std::atomic<std::uint64_t> word{0};
    alignas(128) StartBarrier start;
    std::uint64_t elapsed_ticks[2] = {0, 0};
};

struct FutexBoard {
    alignas(128) std::atomic<std::uint32_t> word{0};
    alignas(128) std::atomic<std::uint64_t> woken_at{0};
    alignas(128) std::atomic<std::uint32_t> seen{0};
    alignas(128) StartBarrier start;
    Histogram ns;
};

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_it_is) noexcept {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, while_it_is, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_ns(long ns) noexcept {
    const timespec pause{0, ns};
    ::nanosleep(&pause, nullptr);
}

template <class Read>
double cost_ns(std::uint64_t readings, Read&& read) {
    for (std::uint64_t i = 0; i < readings / 10; ++i)
        read();
    const std::uint64_t from = ticks_now();
    for (std::uint64_t i = 0; i < readings; ++i)
        read();
    return ticks_to_ns(ticks_now() - from) / static_cast<double>(readings);
}

template <clockid_t kClock>
void read_clock() noexcept {
    timespec now;
    ::clock_gettime(kClock, &now);
    asm volatile("" : : "r"(&now) : "memory");
}

}  // namespace

double contended_fetch_add_per_s(CpuPair cpus, std::uint64_t additions) {
    Shared<AddBoard> board;
    ChildGroup group;
    for (int side = 0; side < 2; ++side) {
        group.start(side == 0 ? cpus.first : cpus.second, [&board, side, additions] {
            board->start.arrive_and_wait(2);
            const std::uint64_t from = ticks_now();
            for (std::uint64_t i = 0; i < additions / 2; ++i)
                board->word.fetch_add(1, std::memory_order_acq_rel);
            board->elapsed_ticks[side] = ticks_now() - from;
        });
    }
    group.wait();
    return static_cast<double>(additions) / ticks_to_s(std::max(board->elapsed_ticks[0], board->elapsed_ticks[1]));
}

Histogram futex_wake_to_run(CpuPair cpus, std::uint64_t wakes) {
    Shared<FutexBoard> board;
    ChildGroup group;
    group.start(cpus.first, [&] {
        board->start.arrive_and_wait(2);
        for (std::uint32_t i = 1; i <= wakes; ++i) {
            sleep_ns(100'000);  // the other one is asleep by now; a late one only shortens its own figure
            board->woken_at.store(ticks_now(), std::memory_order_relaxed);  // relaxed: published by `word`
            board->word.store(i, std::memory_order_release);
            futex_wake(board->word);
            while (board->seen.load(std::memory_order_acquire) != i)
                cpu_relax();
        }
    });
    group.start(cpus.second, [&] {
        board->start.arrive_and_wait(2);
        for (std::uint32_t i = 1; i <= wakes; ++i) {
            while (board->word.load(std::memory_order_acquire) != i)
                futex_wait(board->word, i - 1);
            const std::uint64_t now = ticks_now();
            const std::uint64_t from = board->woken_at.load(std::memory_order_relaxed);  // relaxed: ordered by `word`
            board->ns.record(static_cast<std::uint64_t>(ticks_to_ns(now > from ? now - from : 0)));
            board->seen.store(i, std::memory_order_release);
        }
    });
    group.wait();
    return board->ns;
}

ClockCosts clock_costs(int cpu, std::uint64_t readings) {
    Shared<ClockCosts> costs;
    ChildGroup group;
    group.start(cpu, [&] {
        costs->ticks_ns = cost_ns(readings, [] { ticks_now(); });
        costs->realtime_ns = cost_ns(readings, read_clock<CLOCK_REALTIME>);
        costs->realtime_coarse_ns = cost_ns(readings, read_clock<CLOCK_REALTIME_COARSE>);
        costs->monotonic_ns = cost_ns(readings, read_clock<CLOCK_MONOTONIC>);
    });
    group.wait();
    return *costs;
}

}  // namespace ringmain::bench
