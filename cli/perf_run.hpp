// The measurements of `ringmain perf`, each in processes of its own.
#pragma once

#include "perf_plan.hpp"

namespace ringmain::cli::perf {

/// The options of a topic whose records may have plan.size bytes. Throws CommandError if no topic can carry them.
[[nodiscard]] TopicOptions topic_options(const Plan& plan, std::uint32_t partitions);

[[nodiscard]] Limits measure_limits(const Plan& plan);

/// Producers publish as fast as they can, or at the plan's rate; then `results.latency_ns` is filled as well.
void measure_stream(const Plan& plan, Results& results);

/// One record there and one back, over and over, until the plan's count (at most 200,000) or its seconds are used up.
void measure_round_trips(const Plan& plan, Results& results);

}  // namespace ringmain::cli::perf
