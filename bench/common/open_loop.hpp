// Open loop: records are sent when they are due, whatever happened before, and their latency counts from then.
//
// So a stall is in the latency of every record that was due while it lasted (no coordinated omission). The receiver
// knows from a record's number when it was due.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/common/duel.hpp"

namespace ringmain::bench {

struct OpenLoopPlan {
    std::uint64_t records = 0;
    double records_per_s = 0;  ///< 0: as fast as it goes, which tells the peak of this very loop.
    Idle idle = Idle::spin;
    int sender_cpu = -1;
    int receiver_cpu = -1;
};

struct OpenLoopResult {
    Histogram ns;  ///< From when a record was due to when the receiver had it; empty at the peak.
    double records_per_s = 0;
};

struct OpenLoopBoard {
    alignas(128) StartBarrier start;
    std::atomic<std::uint64_t> first_due{0};
    OpenLoopResult result;
};

/// Counts latencies on top of the check of the payload. Every record's own time is taken.
template <std::size_t kBytes>
class LatencySink {
public:
    LatencySink(Histogram& ns, std::uint64_t first_due, double interval_ticks)
        : ns_(ns), first_due_(first_due), interval_ticks_(interval_ticks) {}

    void operator()(const std::byte* data, std::size_t bytes) {
        const std::uint64_t now = ticks_now();
        const std::uint64_t number = check_.count();  // one sender, in order: as the check finds
        check_(data, bytes);
        if (interval_ticks_ == 0)
            return;
        const std::uint64_t due =
            first_due_ + static_cast<std::uint64_t>(static_cast<double>(number) * interval_ticks_);
        ns_.record(static_cast<std::uint64_t>(ticks_to_ns(now > due ? now - due : 0)));
    }
    [[nodiscard]] const PayloadCheck<kBytes>& check() const noexcept { return check_; }

private:
    Histogram& ns_;
    std::uint64_t first_due_;
    double interval_ticks_;
    PayloadCheck<kBytes> check_;
};

template <class Sender>
void send_when_due(const OpenLoopPlan& plan, double interval_ticks, Sender& sender, OpenLoopBoard& board) {
    board.start.arrive_and_wait(2);
    const std::uint64_t first_due = ticks_now() + ns_to_ticks(200'000);  // the receiver is there by then
    board.first_due.store(first_due, std::memory_order_release);
    std::uint64_t now = 0;
    for (std::uint64_t i = 0; i < plan.records; ++i) {
        const std::uint64_t due = first_due + static_cast<std::uint64_t>(static_cast<double>(i) * interval_ticks);
        while (now < due)
            now = ticks_now();
        sender.send(i);
    }
}

template <std::size_t kBytes, class Receiver>
void receive_when_due(const OpenLoopPlan& plan, double interval_ticks, Receiver& receiver, OpenLoopBoard& board) {
    board.start.arrive_and_wait(2);
    while (board.first_due.load(std::memory_order_acquire) == 0)
        cpu_relax();
    const std::uint64_t first_due =
        board.first_due.load(std::memory_order_relaxed);  // relaxed: the same as a moment ago
    LatencySink<kBytes> sink(board.result.ns, first_due, interval_ticks);
    const IdlePolicy idle(plan.idle);
    while (sink.check().count() < plan.records) {
        if (receiver.drain(kDrainMax, sink) == 0)
            idle.nothing_found();
    }
    const std::uint64_t now = ticks_now();
    board.result.records_per_s =
        static_cast<double>(plan.records) / ticks_to_s(std::max(now, first_due + 1) - first_due);
    sink.check().expect_complete(plan.records);
}

template <std::size_t kBytes, class Link>
OpenLoopResult open_loop(const OpenLoopPlan& plan, Link& link) {
    Shared<OpenLoopBoard> board;
    const double interval_ticks = plan.records_per_s == 0 ? 0 : 1e9 / plan.records_per_s / tick_ns();
    Sides<Link> group;
    group.start(plan.sender_cpu, [&] {
        auto sender = link.sender(0);
        send_when_due(plan, interval_ticks, sender, *board);
    });
    group.start(plan.receiver_cpu, [&] {
        auto receiver = link.receiver();
        receive_when_due<kBytes>(plan, interval_ticks, receiver, *board);
    });
    group.wait();
    return board->result;
}

}  // namespace ringmain::bench
