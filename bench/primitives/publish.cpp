// What does one publish cost its producer when nobody reads?
#include "bench/primitives/topic_fixture.hpp"

namespace ringmain::bench {
namespace {

void publish_with(benchmark::State& state, const ProducerOptions& options, ProducerRecord record, std::size_t bytes) {
    const TopicFixture topic;
    Producer producer = topic.producer(options);
    const std::vector<std::byte> value(bytes, std::byte{7});
    record.value = value;
    for (auto _ : state)
        require_ok(producer.publish(record).status);
    state.SetItemsProcessed(state.iterations());
}

ProducerRecord stamped() {
    ProducerRecord record;
    record.timestamp_ns = 1;
    return record;
}

void publish(benchmark::State& state) { publish_with(state, {}, stamped(), static_cast<std::size_t>(state.range(0))); }
BENCHMARK(publish)->Arg(8)->Arg(40)->Arg(64)->Arg(1024)->Arg(16 * 1024);

void publish_exclusive(benchmark::State& state) {
    publish_with(state, {.exclusive = true}, stamped(), static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(publish_exclusive)->Arg(40)->Arg(1024);

void publish_coarse_clock(benchmark::State& state) { publish_with(state, {.clock = ProducerClock::coarse}, {}, 40); }
BENCHMARK(publish_coarse_clock);

void publish_precise_clock(benchmark::State& state) { publish_with(state, {.clock = ProducerClock::precise}, {}, 40); }
BENCHMARK(publish_precise_clock);

void publish_keyed(benchmark::State& state) {
    ProducerRecord record = stamped();
    record.key = as_bytes("AAPL.XNAS");
    publish_with(state, {}, record, 24);
}
BENCHMARK(publish_keyed);

void publish_with_header(benchmark::State& state) {
    const Header header{"source", as_bytes("feed-7")};
    ProducerRecord record = stamped();
    record.headers = {&header, 1};
    publish_with(state, {}, record, 40);
}
BENCHMARK(publish_with_header);

void publish_batch(benchmark::State& state) {
    const TopicFixture topic;
    Producer producer = topic.producer();
    const std::vector<std::byte> value(40, std::byte{7});
    ProducerRecord record = stamped();
    record.value = value;
    record.partition = 0;
    const std::vector<ProducerRecord> batch(static_cast<std::size_t>(state.range(0)), record);
    for (auto _ : state)
        require_ok(producer.publish_batch(batch).status);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(publish_batch)->Arg(4)->Arg(16)->Arg(64);

void loan_and_publish(benchmark::State& state) {
    const TopicFixture topic;
    Producer producer = topic.producer();
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const ProducerRecord record = stamped();
    for (auto _ : state) {
        Loan loan = producer.loan(bytes, record);
        require_ok(loan.status());
        loan.value()[0] = std::byte{7};
        require_ok(producer.publish(loan).status);
    }
}
BENCHMARK(loan_and_publish)->Arg(40)->Arg(1024)->Arg(16 * 1024);

}  // namespace
}  // namespace ringmain::bench
