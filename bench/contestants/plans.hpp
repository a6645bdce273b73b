// Streams that take about as long for a slow contestant as for a fast one, on as many processors as there are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/common/duel.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::bench {

/// A stream of about `seconds` (times the contest's scale) for something that carries `records_per_s`. Counted after
/// two laps of a default ring, or after the first third of a shorter stream. With fewer processors than processes the
/// receiver shares one with a sender and gives it away when it finds nothing.
inline StreamPlan timed_plan(const ContestOptions& options, double records_per_s, double seconds, Idle idle,
                             std::uint64_t senders = 1) {
    const bool shared = options.cpus.size() < senders + 1;
    const std::uint64_t counted = options.scaled(static_cast<std::uint64_t>(records_per_s * seconds), 64 * senders);
    StreamPlan plan;
    plan.senders = senders;
    plan.warm_records = std::min(2 * TopicOptions{}.records, counted / 2);
    plan.records = counted + plan.warm_records;
    plan.idle = shared ? Idle::yield : idle;
    for (std::uint64_t s = 0; s < senders; ++s)
        plan.sender_cpus.push_back(options.cpus[s % options.cpus.size()]);
    plan.receiver_cpu = options.cpus[shared ? 1 : senders];
    return plan;
}

/// A contestant whose every round is left out for one reason.
inline Contestant left_out(std::string name, std::string unit, std::string reason) {
    return {std::move(name), std::move(unit), {}, [reason = std::move(reason)]() -> Sample { throw Skipped(reason); }};
}

}  // namespace ringmain::bench
