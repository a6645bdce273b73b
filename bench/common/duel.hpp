// The two courses that everything runs: a stream of records and a round trip, for any link that has senders and a
// receiver.
//
// A link is made by the parent; in its own process each side asks it for its end:
//   link.sender(index).send(sequence)                 publishes one payload, waiting while there is no room
//   sender.flush()                                    if there is such a thing: publishes what it still holds
//   link.receiver().drain(max, sink) -> records taken calls sink(data, bytes) for each; 0 if there was none
//   link.receiver().lost()            -> offsets that were passed without a record
//
// A link with a member kOneProcess cannot cross processes: its sides are threads of one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include "bench/common/contest.hpp"
#include "bench/common/histogram.hpp"
#include "bench/common/idle.hpp"
#include "bench/common/payload.hpp"
#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "bench/common/thread_group.hpp"

namespace ringmain::bench {

template <class Link>
struct SidesOf {
    using Group = ChildGroup;
};
template <class Link>
requires requires { Link::kOneProcess; }
struct SidesOf<Link> {
    using Group = ThreadGroup;
};
/// What the two sides of a link run in.
template <class Link>
using Sides = typename SidesOf<Link>::Group;

struct StreamPlan {
    std::uint64_t records = 0;
    std::uint64_t warm_records = 0;  ///< Not in the figure: the first lap touches memory for the first time.
    std::uint64_t senders = 1;       ///< A power of two, at most 8.
    Idle idle = Idle::spin;
    std::vector<int> sender_cpus;
    int receiver_cpu = -1;
    bool ordered = true;  ///< Records of one sender arrive in its order.
    bool lossy = false;   ///< The sender does not wait for the receiver; the rest must be intact and in order.
};

struct StreamBoard {
    alignas(128) StartBarrier start;
    double records_per_s = 0;
    double lost = 0;
};

/// The most records that a receiver takes before it looks at the clock and at its count again.
inline constexpr std::uint64_t kDrainMax = 256;

template <std::size_t kBytes, class Receiver>
void receive_stream(const StreamPlan& plan, Receiver& receiver, StreamBoard& board) {
    PayloadCheck<kBytes> check(plan.senders, plan.ordered);
    const IdlePolicy idle(plan.idle);
    std::uint64_t from = 0;
    std::uint64_t counted_from = 0;
    while (check.count() + receiver.lost() < plan.records) {
        if (receiver.drain(kDrainMax, check) == 0)
            idle.nothing_found();
        if (from == 0 && check.count() + receiver.lost() >= plan.warm_records) {
            from = ticks_now();
            counted_from = check.count();
        }
    }
    const std::uint64_t to = ticks_now();
    if (plan.lossy) {
        check.expect_intact();
    } else {
        check.expect_complete(plan.records);
    }
    board.records_per_s = static_cast<double>(check.count() - counted_from) / ticks_to_s(to - from);
    board.lost = static_cast<double>(receiver.lost()) / static_cast<double>(plan.records);
}

/// Records that reached the receiver per second, by the receiver's clock from the last warm one to the last of all.
template <std::size_t kBytes, class Link>
Sample stream(const StreamPlan& plan, Link& link) {
    Shared<StreamBoard> board;
    const auto parties = static_cast<std::uint32_t>(plan.senders + 1);
    Sides<Link> group;
    for (std::uint64_t s = 0; s < plan.senders; ++s) {
        group.start(plan.sender_cpus.at(s), [&, s] {
            auto sender = link.sender(static_cast<unsigned>(s));
            board->start.arrive_and_wait(parties);
            for (std::uint64_t i = s; i < plan.records; i += plan.senders)
                sender.send(i);
            if constexpr (requires { sender.flush(); })
                sender.flush();
        });
    }
    group.start(plan.receiver_cpu, [&] {
        auto receiver = link.receiver();
        board->start.arrive_and_wait(parties);
        receive_stream<kBytes>(plan, receiver, *board);
    });
    group.wait();
    Sample sample{board->records_per_s, {{"bytes_per_s", board->records_per_s * static_cast<double>(kBytes)}}};
    if (plan.lossy)
        sample.extras["lost_fraction"] = board->lost;
    return sample;
}

struct RoundTripBoard {
    alignas(128) StartBarrier start;
    Histogram half_ns;
};

/// The figures of a latency histogram in nanoseconds: the median, with the other percentiles as extras.
inline Sample latency_sample(const Histogram& ns) {
    return {ns.quantile(0.5),
            {{"p90", ns.quantile(0.9)},
             {"p99", ns.quantile(0.99)},
             {"p99.9", ns.quantile(0.999)},
             {"p99.99", ns.quantile(0.9999)},
             {"max", static_cast<double>(ns.max())}},
            std::make_shared<Histogram>(ns)};
}

template <std::size_t kBytes, class Receiver>
void await_one(Receiver& receiver, PayloadCheck<kBytes>& check) {
    while (receiver.drain(1, check) == 0) {
    }
}

/// Half of the time from one answer to the next: one record there, one record back, both written and read by spinning
/// processes. Every round trip after the first tenth.
template <std::size_t kBytes, class Link>
Sample round_trip(const ContestOptions& options, std::uint64_t round_trips, Link& there, Link& back) {
    Shared<RoundTripBoard> board;
    const std::uint64_t warm = round_trips / 10;
    Sides<Link> group;
    group.start(options.cpus.at(0), [&] {
        auto sender = there.sender(0);
        auto receiver = back.receiver();
        PayloadCheck<kBytes> check;
        board->start.arrive_and_wait(2);
        std::uint64_t from = ticks_now();
        for (std::uint64_t i = 0; i < round_trips; ++i) {
            sender.send(i);
            await_one(receiver, check);
            const std::uint64_t to = ticks_now();
            if (i >= warm)
                board->half_ns.record(static_cast<std::uint64_t>(ticks_to_ns(to - from) / 2));
            from = ticks_now();
        }
        check.expect_complete(round_trips);
    });
    group.start(options.cpus.at(1), [&] {
        auto sender = back.sender(0);
        auto receiver = there.receiver();
        PayloadCheck<kBytes> check;
        board->start.arrive_and_wait(2);
        for (std::uint64_t i = 0; i < round_trips; ++i) {
            await_one(receiver, check);
            sender.send(i);
        }
        check.expect_complete(round_trips);
    });
    group.wait();
    return latency_sample(board->half_ns);
}

}  // namespace ringmain::bench
