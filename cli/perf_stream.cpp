// `ringmain perf`: producer processes publish, one consumer process reads all partitions.
#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "errors.hpp"
#include "perf_parts.hpp"
#include "perf_run.hpp"
#include "ringmain/producer.hpp"

namespace ringmain::cli::perf {

namespace {

constexpr std::uint32_t kNumberBits = 56;         // of a record's number; the producer's index is above
constexpr std::uint64_t kLookAtClockEvery = 256;  // records
constexpr double kSpinBeforeNs = 60'000;          // sleeping is not exact: the rest of a pause is spun
constexpr auto kPollTimeout = std::chrono::milliseconds(50);

struct Board {
    alignas(128) bench::StartBarrier start;
    alignas(128) std::atomic<std::uint64_t> received{0};  // written once per poll
    alignas(128) std::atomic<std::uint32_t> finished{0};  // producers that published their last record
    std::atomic<std::uint64_t> published{0};
    Throughput throughput;
    bench::Histogram latency_ns;
};

/// The pace of one producer: when its next record is due.
class Pace {
public:
    Pace(const Plan& plan, std::uint32_t index)
        : interval_ticks_(plan.rate == 0 ? 0
                                         : 1e9 * plan.producers / static_cast<double>(plan.rate) / bench::tick_ns()),
          start_(bench::ticks_now()),
          due_(interval_ticks_ * index / plan.producers) {}

    /// Waits until the next record is due; answers the time it is sent or was to be sent.
    std::uint64_t next() noexcept {
        if (interval_ticks_ == 0)
            return 0;
        const std::uint64_t due = start_ + static_cast<std::uint64_t>(due_);
        due_ += interval_ticks_;
        const std::uint64_t now = bench::ticks_now();
        if (due > now)
            wait_until(due, bench::ticks_to_ns(due - now));
        return due;
    }

private:
    static void wait_until(std::uint64_t due, double ns) noexcept {
        if (ns > 2 * kSpinBeforeNs) {
            const auto sleep = static_cast<std::int64_t>(ns - kSpinBeforeNs);
            const timespec pause{sleep / 1'000'000'000, sleep % 1'000'000'000};
            ::nanosleep(&pause, nullptr);
        }
        while (bench::ticks_now() < due)
            bench::cpu_relax();
    }

    double interval_ticks_;
    std::uint64_t start_;
    double due_;
};

std::uint64_t share_of(std::uint64_t count, std::uint32_t producers, std::uint32_t index) {
    if (count == 0)
        return UINT64_MAX;
    return count / producers + (index < count % producers ? 1 : 0);
}

void produce(const Plan& plan, const std::string& topic, std::uint32_t index, Board& board) {
    Producer producer(Broker(plan.broker), topic, {.exclusive = plan.exclusive});
    // an exclusive producer has partitions of its own
    const std::uint32_t step = plan.exclusive ? plan.producers : 1;
    const std::uint32_t first = plan.exclusive ? index : index % plan.partitions;
    for (std::uint32_t p = plan.exclusive ? index : 0; p < plan.partitions; p += step)
        producer.attach(p);
    Value value(plan.size);
    ProducerRecord record;
    record.partition = first;
    const std::uint64_t count = share_of(plan.count, plan.producers, index);
    board.start.arrive_and_wait(plan.producers + 1);
    const std::uint64_t stop = bench::ticks_now() + bench::ns_to_ticks(static_cast<double>(plan.seconds) * 1e9);
    Pace pace(plan, index);
    std::uint64_t sent = 0;
    for (; sent < count; ++sent) {
        const std::uint64_t due = pace.next();
        if (plan.count == 0 && (sent % kLookAtClockEvery == 0 || plan.rate != 0) && bench::ticks_now() >= stop)
            break;
        record.value = value.stamp(due, std::uint64_t{index} << kNumberBits | sent);
        expect_ok(producer.publish(record).status, "perf: publish");
        record.partition =
            *record.partition + step < plan.partitions ? *record.partition + step : (plan.exclusive ? index : 0);
    }
    board.published.fetch_add(sent, std::memory_order_relaxed);  // relaxed: published by `finished`
    board.finished.fetch_add(1, std::memory_order_release);
}

/// A small part of what the topic holds, in cells or in payload memory: producers are not held up by what was read long
/// ago.
std::uint64_t records_between_gates(const Plan& plan) {
    constexpr std::uint64_t kPart = 64;
    const TopicOptions options = topic_options(plan, plan.partitions);
    return std::max<std::uint64_t>(1,
                                   std::min<std::uint64_t>(options.records, options.payload_bytes / plan.size) / kPart);
}

/// The consumer's side of the stream.
class Receiving {
public:
    Receiving(const Plan& plan, const std::string& topic, Board& board)
        : plan_(plan),
          board_(board),
          consumer_(Broker(plan.broker), {.wait = plan.wait}),
          gate_step_(records_between_gates(plan)) {
        consumer_.assign(topic);
        if (plan.when_full == WhenFull::block)
            consumer_.hold_gates("perf");
    }

    void run() {
        board_.start.arrive_and_wait(plan_.producers + 1);
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        for (;;) {
            const bool all_published = board_.finished.load(std::memory_order_acquire) == plan_.producers;
            const bool found =
                take(consumer_.poll(256, all_published ? std::chrono::nanoseconds::zero() : kPollTimeout));
            if (found)
                last = bench::ticks_now();
            if (first == 0)
                first = last;
            if (!found && all_published)
                break;
        }
        finish(first, last);
    }

private:
    bool take(const PollResult& result) {
        expect_ok(result.status, "perf: poll");
        for (const Gap& gap : result.gaps)
            board_.throughput.lost += gap.count();
        const std::uint64_t now = plan_.rate != 0 ? bench::ticks_now() : 0;
        for (const ConsumerRecord& record : result.records) {
            const Stamp stamp = read_stamp(record, plan_.size);
            if (stamp.ticks != 0) {
                board_.latency_ns.record(
                    static_cast<std::uint64_t>(bench::ticks_to_ns(now > stamp.ticks ? now - stamp.ticks : 0)));
            }
        }
        received_ += result.records.size();
        since_gates_ += result.records.size();
        if (since_gates_ >= gate_step_ || result.records.empty()) {
            if (plan_.when_full == WhenFull::block)
                consumer_.move_gates();
            since_gates_ = 0;
        }
        board_.received.store(received_, std::memory_order_relaxed);  // relaxed: for the progress line
        return !result.records.empty() || !result.gaps.empty();
    }

    void finish(std::uint64_t first, std::uint64_t last) {
        Throughput& throughput = board_.throughput;
        throughput.published = board_.published.load(std::memory_order_relaxed);  // relaxed: ordered by `finished`
        throughput.received = received_;
        throughput.seconds = bench::ticks_to_s(last - first);
        if (throughput.lost == 0 && throughput.received != throughput.published) {
            throw CommandError(
                fmt::format("perf: {} records published, {} received", throughput.published, throughput.received));
        }
    }

    const Plan& plan_;
    Board& board_;
    Consumer consumer_;
    std::uint64_t received_ = 0;
    std::uint64_t gate_step_;
    std::uint64_t since_gates_ = 0;
};

/// A line on a terminal that shows the records of the last moment.
class Progress {
public:
    explicit Progress(const Board& board) : board_(board), shown_(::isatty(STDERR_FILENO) == 1) {}
    ~Progress() {
        if (shown_)
            std::fputs("\r\033[K", stderr);
    }

    void tick() {
        if (!shown_)
            return;
        const std::uint64_t received = board_.received.load(std::memory_order_relaxed);  // relaxed: for show
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> elapsed = now - at_;
        fmt::print(stderr, "\r\033[K{:.2f} M records received, {:.2f} M/s", static_cast<double>(received) / 1e6,
                   static_cast<double>(received - before_) / 1e6 / elapsed.count());
        std::fflush(stderr);
        before_ = received;
        at_ = now;
    }

private:
    const Board& board_;
    bool shown_;
    std::uint64_t before_ = 0;
    std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
};

}  // namespace

void measure_stream(const Plan& plan, Results& results) {
    const TemporaryTopic topic(plan, "stream", plan.partitions);
    bench::Shared<Board> board;
    Progress progress(*board);
    bench::ChildGroup group;
    group.start(plan.cpu(0), [&] { Receiving(plan, topic.name(), *board).run(); });
    for (std::uint32_t i = 0; i < plan.producers; ++i) {
        group.start(plan.cpu(i + 1), [&, i] { produce(plan, topic.name(), i, *board); });
    }
    group.wait([&] { progress.tick(); });
    results.throughput = board->throughput;
    if (plan.rate == 0)
        return;
    results.latency_ns = board->latency_ns;
    results.open_loop = true;
}

}  // namespace ringmain::cli::perf
