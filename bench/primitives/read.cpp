// What does reading one record cost, and finding a place in the log?
#include "bench/primitives/topic_fixture.hpp"

namespace ringmain::bench {
namespace {

constexpr std::uint64_t kRecords = 32'768;

/// Reads the same records over and over: one seek each time round.
void poll(benchmark::State& state) {
    const TopicFixture topic;
    topic.fill(kRecords, static_cast<std::size_t>(state.range(0)));
    Consumer consumer = topic.consumer();
    std::int64_t records = 0;
    for (auto _ : state) {
        const PollResult result = consumer.poll(static_cast<std::size_t>(state.range(1)));
        require_ok(result.status);
        records += static_cast<std::int64_t>(result.records.size());
        for (const ConsumerRecord& record : result.records)
            benchmark::DoNotOptimize(*record.value->data());
        if (result.records.empty())
            consumer.seek(TopicFixture::kName, 0, Position::earliest());
    }
    state.SetItemsProcessed(records);
    state.counters["ns_per_record"] = benchmark::Counter(static_cast<double>(records) * 1e-9,
                                                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(poll)->Args({40, 1})->Args({40, 256})->Args({256, 256});

void visit(benchmark::State& state) {
    const TopicFixture topic;
    topic.fill(kRecords, 40);
    Consumer consumer = topic.consumer();
    for (auto _ : state) {
        const VisitStatus status =
            consumer.visit([](const ConsumerRecord& record) { benchmark::DoNotOptimize(*record.value->data()); });
        if (status == VisitStatus::empty)
            consumer.seek(TopicFixture::kName, 0, Position::earliest());
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(visit);

void poll_of_nothing(benchmark::State& state) {
    const TopicFixture topic;
    Consumer consumer = topic.consumer();
    for (auto _ : state)
        require_ok(consumer.poll().status);
}
BENCHMARK(poll_of_nothing);

void seek_to(benchmark::State& state, std::uint64_t step, Position (*place)(std::uint64_t)) {
    const TopicFixture topic;
    topic.fill(kRecords, 40);
    Consumer consumer = topic.consumer();
    std::uint64_t at = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(consumer.seek(TopicFixture::kName, 0, place(at)));
        at = (at + step) % kRecords;
    }
}

void seek_by_offset(benchmark::State& state) {
    seek_to(state, 7919, [](std::uint64_t at) { return Position::at(at); });
}
BENCHMARK(seek_by_offset);

void seek_by_time(benchmark::State& state) {
    seek_to(state, 7919, [](std::uint64_t at) { return Position::since(static_cast<std::int64_t>(at + 1)); });
}
BENCHMARK(seek_by_time);

}  // namespace
}  // namespace ringmain::bench
