// What does a timestamp cost?
#include <benchmark/benchmark.h>
#include <time.h>

#include "bench/common/ticks.hpp"

namespace ringmain::bench {
namespace {

template <clockid_t kClock>
void clock_reading(benchmark::State& state) {
    timespec now{};
    for (auto _ : state) {
        ::clock_gettime(kClock, &now);
        benchmark::DoNotOptimize(now);
    }
}
BENCHMARK(clock_reading<CLOCK_REALTIME>)->Name("clock_realtime");
BENCHMARK(clock_reading<CLOCK_REALTIME_COARSE>)->Name("clock_realtime_coarse");
BENCHMARK(clock_reading<CLOCK_MONOTONIC>)->Name("clock_monotonic");

void processor_counter(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(ticks_now());
}
BENCHMARK(processor_counter);

}  // namespace
}  // namespace ringmain::bench
