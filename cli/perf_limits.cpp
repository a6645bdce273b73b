// The machine's own limits, as `ringmain perf` shows them beside its figures.
#include "bench/limits/limits.hpp"

#include "perf_run.hpp"

namespace ringmain::cli::perf {

Limits measure_limits(const Plan& plan) {
    const bench::CpuPair cpus{plan.cpu(1), plan.cpu(0)};
    Limits limits;
    limits.ping_pong_ns = bench::line_ping_pong(cpus, 200'000).quantile(0.5);
    limits.lines_per_s = bench::line_stream_per_s(cpus, 256 * 1024, 10'000'000);
    if (plan.size >= 1024)
        limits.bulk_bytes_per_s = bench::bulk_copy_bytes_per_s(cpus, 16 << 20, 16 << 10, 50'000);
    if (plan.wait == WaitStrategy::block)
        limits.wake_ns = bench::futex_wake_to_run(cpus, 200).quantile(0.5);
    return limits;
}

}  // namespace ringmain::cli::perf
