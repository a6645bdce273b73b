// What does choosing a partition by key cost?
#include <benchmark/benchmark.h>

#include <string>

#include "ringmain/partitioner.hpp"

namespace ringmain::bench {
namespace {

void murmur2_of_key(benchmark::State& state) {
    const std::string key(static_cast<std::size_t>(state.range(0)), 'k');
    for (auto _ : state)
        benchmark::DoNotOptimize(murmur2(as_bytes(key)));
}
BENCHMARK(murmur2_of_key)->Arg(4)->Arg(16)->Arg(64)->Arg(256);

void partition_of_key(benchmark::State& state) {
    const std::string key(16, 'k');
    for (auto _ : state)
        benchmark::DoNotOptimize(partition_for_key(as_bytes(key), 12));
}
BENCHMARK(partition_of_key);

}  // namespace
}  // namespace ringmain::bench
