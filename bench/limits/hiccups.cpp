// What the machine itself interrupts: two processes on the measured processors that do nothing but read the clock.
#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "bench/limits/limits.hpp"

namespace ringmain::bench {
namespace {

struct Board {
    alignas(128) StartBarrier start;
    Histogram ns[2];
};

/// A record is due at each `interval`; it is as late as the clock's next reading is. That is what the best receiver
/// would see.
void read_the_clock(double seconds, double interval_ns, Histogram& ns) {
    const std::uint64_t start = ticks_now();
    const std::uint64_t end = start + ns_to_ticks(seconds * 1e9);
    const double interval_ticks = interval_ns / tick_ns();
    double due = static_cast<double>(start);
    for (std::uint64_t now = start; now < end; now = ticks_now()) {
        for (; due <= static_cast<double>(now); due += interval_ticks)
            ns.record(static_cast<std::uint64_t>(ticks_to_ns(now - static_cast<std::uint64_t>(due))));
    }
}

}  // namespace

Histogram hiccups(CpuPair cpus, double seconds, double interval_ns) {
    Shared<Board> board;
    ChildGroup group;
    for (const int side : {0, 1}) {
        group.start(side == 0 ? cpus.first : cpus.second, [&, side] {
            board->start.arrive_and_wait(2);
            read_the_clock(seconds, interval_ns, board->ns[side]);
        });
    }
    group.wait();
    board->ns[0].merge(board->ns[1]);
    return board->ns[0];
}

}  // namespace ringmain::bench
