// `ringmain perf`: the time that a record takes to another process, as half of a round trip.
#include <algorithm>
#include <chrono>

#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "errors.hpp"
#include "perf_parts.hpp"
#include "perf_run.hpp"
#include "ringmain/producer.hpp"

namespace ringmain::cli::perf {

namespace {

constexpr std::uint64_t kRoundTripsMax = 200'000;
constexpr std::uint64_t kWarmRoundTrips = 1'000;
constexpr std::uint64_t kLastNumber = UINT64_MAX;  // tells the answering process that it is over
constexpr auto kPollTimeout = std::chrono::seconds(1);

struct Board {
    alignas(128) bench::StartBarrier start;
    bench::Histogram half_ns;
};

/// One process's end: it publishes to one topic and reads the other.
class End {
public:
    End(const Plan& plan, const std::string& out, const std::string& in)
        : plan_(plan),
          producer_(Broker(plan.broker), out, {.exclusive = plan.exclusive}),
          consumer_(Broker(plan.broker), {.wait = plan.wait}),
          value_(plan.size) {
        producer_.attach(0);
        consumer_.assign(in);
        if (plan.when_full == WhenFull::block)
            consumer_.hold_gates("perf");
        record_.partition = 0;
    }

    void send(std::uint64_t number) {
        record_.value = value_.stamp(0, number);
        expect_ok(producer_.publish(record_).status, "perf: publish");
    }

    std::uint64_t receive() {
        for (;;) {
            const PollResult result = consumer_.poll(1, kPollTimeout);
            expect_ok(result.status, "perf: poll");
            if (result.records.empty())
                continue;
            const std::uint64_t number = read_stamp(result.records.front(), plan_.size).number;
            if (plan_.when_full == WhenFull::block && ++since_gates_ % 1024 == 0)
                consumer_.move_gates();
            return number;
        }
    }

private:
    const Plan& plan_;
    Producer producer_;
    Consumer consumer_;
    Value value_;
    ProducerRecord record_;
    std::uint64_t since_gates_ = 0;
};

void ask(const Plan& plan, End& end, Board& board) {
    const std::uint64_t wanted = plan.count == 0 ? kRoundTripsMax : std::min(plan.count, kRoundTripsMax);
    std::uint64_t from = bench::ticks_now();
    const std::uint64_t allowed = bench::ns_to_ticks(static_cast<double>(plan.seconds) * 1e9);
    const std::uint64_t warm_until = from + allowed / 10;  // a slow round trip must not use up all the time
    const std::uint64_t stop = from + allowed;
    for (std::uint64_t i = 0; i < wanted + kWarmRoundTrips && from < stop; ++i) {
        end.send(i);
        if (end.receive() != i)
            throw CommandError("perf: another answer than the one expected");
        const std::uint64_t to = bench::ticks_now();
        if (i >= kWarmRoundTrips || to >= warm_until)
            board.half_ns.record(static_cast<std::uint64_t>(bench::ticks_to_ns(to - from) / 2));
        from = bench::ticks_now();
    }
    end.send(kLastNumber);
}

void answer(End& end) {
    for (;;) {
        const std::uint64_t number = end.receive();
        if (number == kLastNumber)
            return;
        end.send(number);
    }
}

}  // namespace

void measure_round_trips(const Plan& plan, Results& results) {
    const TemporaryTopic there(plan, "there", 1);
    const TemporaryTopic back(plan, "back", 1);
    bench::Shared<Board> board;
    bench::ChildGroup group;
    group.start(plan.cpu(1), [&] {
        End end(plan, there.name(), back.name());
        board->start.arrive_and_wait(2);
        ask(plan, end, *board);
    });
    group.start(plan.cpu(0), [&] {
        End end(plan, back.name(), there.name());
        board->start.arrive_and_wait(2);
        answer(end);
    });
    group.wait();
    results.latency_ns = board->half_ns;
}

}  // namespace ringmain::cli::perf
