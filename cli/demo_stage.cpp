// The run as a screenplay, and the watch over the children while it plays.
#include "demo_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>

#include "demo_roles.hpp"
#include "demo_text.hpp"

namespace ringmain::cli::demo {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr milliseconds kTick{5};
constexpr seconds kPatience{10};              // for anything that takes milliseconds unless something is wrong
constexpr microseconds kKillDelayMax{1'500};  // the moment of the kill is random within this
constexpr milliseconds kAftermath{100};       // after the take-over, until the cost is summed up

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

}  // namespace

Stage::Stage(const Plan& plan, Board& board, Narrator& narrator)
    : plan_(plan), board_(board), narrator_(narrator), waiting_(kTick, kPatience, [this] {
          check_on_everybody();
          show_progress();
      }) {}

StageFacts Stage::run() {
    raise_house();
    start_producers();
    let_second_consumer_join();
    waiting_.until("the moment of the kill", nanoseconds(plan_.kill_after_ns) + kPatience,
               [&] { return narrator_.elapsed_ns() >= plan_.kill_after_ns; });
    stand_successor_by();
    kill_one();
    watch_takeover();
    if (!plan_.from_csv())
        go_flat_out();
    let_producers_end();
    let_consumers_end();
    return facts_;
}

void Stage::raise_house() {
    start(keeper_, "keeper", board_.keeper.error, run_keeper);
    waiting_.until("the topic", kPatience, [&] { return board_.keeper.ready.load(std::memory_order_acquire); });
    narrator_.event(fmt::format("topic '{}': {} partitions of {} records, {:.1f} MiB in {}", plan_.topic, kPartitions,
                                grouped(kRecordsPerPartition),
                                static_cast<double>(load(board_.keeper.topic_bytes)) / 1048576.0,
                                plan_.broker.string()));
    start(live_, "live consumer", board_.live.error, run_live_consumer);
    waiting_.until("the live consumer", kPatience, [&] { return board_.live.ready.load(std::memory_order_acquire); });
}

void Stage::start_producers() {
    producers_.reserve(plan_.options.producers);
    for (std::uint32_t index = 0; index < plan_.options.producers; ++index) {
        producers_.emplace_back(fmt::format("producer {}", index), board_.producers[index].error,
                                [&, index] { run_producer(plan_, board_, index); });
    }
    waiting_.until("the producers", kPatience, [&] {
        return std::all_of(board_.producers.begin(), board_.producers.begin() + plan_.options.producers,
                           [](const ProducerPanel& panel) { return panel.ready.load(std::memory_order_acquire); });
    });
    board_.started_ns.store(wall_ns(), std::memory_order_release);
    narrator_.start_clock();
    narrator_.event(fmt::format(
        "{} producers publish, one live consumer reads; {}", plan_.options.producers,
        plan_.from_csv() ? "the file is spread over the time"
                         : "paced for a start, so that the log still has its first offset when a second one comes"));
}

void Stage::let_second_consumer_join() {
    waiting_.until("the moment of the second consumer", nanoseconds(plan_.join_after_ns) + kPatience, [&] {
        return narrator_.elapsed_ns() >= plan_.join_after_ns || fullest_partition() >= plan_.join_records;
    });
    start(late_, "late consumer", board_.late.error, run_late_consumer);
    waiting_.until("the late consumer's replay", kPatience,
               [&] { return board_.late.caught_up.load(std::memory_order_acquire); });
    narrator_.event(fmt::format(
        "a second consumer joined at offset 0 and replayed {} records in {}; gaps: {}",
        grouped(load(board_.late.replayed)),
        duration(static_cast<std::uint64_t>(board_.late.caught_up_ns.load() - board_.late.joined_ns.load())),
        grouped(load(board_.late.gap_offsets))));
}

void Stage::go_flat_out() {
    facts_.published_when_flat_out = published();
    facts_.flat_out_after_ns = narrator_.elapsed_ns();
    board_.flat_out_ns.store(wall_ns(), std::memory_order_relaxed);
    narrator_.event("flat out: from here on every file is read again as soon as it has been published");
}

void Stage::stand_successor_by() {
    start(successor_, "successor", board_.successor.error, run_successor);
    waiting_.until("the successor's first look at the log", kPatience,
               [&] { return board_.successor.caught_up.load(std::memory_order_acquire); });
    waiting_.for_look("a look at the log", board_.keeper.looks_wanted, board_.keeper.looks_taken);
    facts_.closed_before_kill = load(board_.keeper.log.closed_tickets);
    facts_.skipped_before_kill = load(board_.live.skipped_offsets);
}

void Stage::kill_one() {
    Child& victim = producers_[plan_.victim];
    ProducerPanel& panel = board_.producers[plan_.victim];
    const std::uint64_t published_before = load(panel.published);
    board_.hurry.store(true, std::memory_order_relaxed);
    // At least one record after the successor's gate, so that the successor finds its predecessor in the log.
    waiting_.until("the victim to publish", kPatience, [&] {
        const auto deadline = Clock::now() + kTick;
        while (Clock::now() < deadline) {
            if (panel.finished.load(std::memory_order_acquire))
                return true;
            if (panel.publishing.load(std::memory_order_relaxed) && load(panel.published) > published_before)
                return true;
        }
        return false;
    });
    std::random_device random;
    std::this_thread::sleep_for(
        nanoseconds(std::uniform_int_distribution<std::int64_t>(0, nanoseconds(kKillDelayMax).count())(random)));
    facts_.victim_killed_after_ns = narrator_.elapsed_ns();
    victim.kill([&] { board_.killed_ns.store(wall_ns(), std::memory_order_relaxed); });
    facts_.victim_published = load(panel.published);
    facts_.victim_was_publishing = panel.publishing.load(std::memory_order_relaxed);
    // release VICTIM_DEAD: pairs with the successor's load; the kernel has said that the victim is gone.
    board_.victim_dead.store(true, std::memory_order_release);
    narrator_.event(fmt::format("producer {} killed with SIGKILL {}, after {} records", plan_.victim,
                                facts_.victim_was_publishing ? "while publishing" : "between two records",
                                grouped(facts_.victim_published)));
}

void Stage::watch_takeover() {
    const auto taken_over = [&] {
        return load(board_.successor.published) != 0 || board_.successor.finished.load(std::memory_order_acquire);
    };
    waiting_.until("the other producers' next records", nanoseconds(plan_.stop_after_ns),
               [&] { return others_published(); });
    board_.hurry.store(false, std::memory_order_relaxed);
    waiting_.until("the successor's take-over", nanoseconds(plan_.stop_after_ns), taken_over);
    narrator_.event(fmt::format("its successor found {} of its records in the log and goes on after the last of them",
                                grouped(load(board_.successor.continued_at))));
    const auto deadline = Clock::now() + kAftermath;
    waiting_.until("the aftermath", kPatience, [&] { return Clock::now() >= deadline; });
    waiting_.for_look("a look at the log", board_.keeper.looks_wanted, board_.keeper.looks_taken);
    facts_.closed_after_kill = load(board_.keeper.log.closed_tickets);
    facts_.skipped_after_kill = load(board_.live.skipped_offsets);
}

void Stage::let_producers_end() {
    waiting_.until("the end of the input", nanoseconds(plan_.stop_after_ns) + kPatience,
               [&] { return producers_ended() || narrator_.elapsed_ns() >= plan_.stop_after_ns; });
    facts_.stopped_early = plan_.from_csv() && !producers_ended();
    board_.stop_producing.store(true, std::memory_order_relaxed);
    waiting_.until("the producers' end", kPatience, [&] { return producers_ended(); });
    facts_.produced_for_ns = narrator_.elapsed_ns();
    narrator_.event(facts_.stopped_early ? "the time is up before the file is: the producers were stopped"
                                         : "the producers have ended");
}

void Stage::let_consumers_end() {
    // release DRAIN: pairs with the consumers' load; every producer has been waited for.
    board_.drain.store(true, std::memory_order_release);
    waiting_.until("the consumers' end", kPatience, [&] { return live_.ended() && late_.ended(); });
    board_.stop_keeping.store(true, std::memory_order_release);
    waiting_.until("the keeper's end", kPatience, [&] { return keeper_.ended(); });
    narrator_.event("both consumers have read to the end");
}

void Stage::start(Child& child, std::string_view name, ErrorText& error, void (*role)(const Plan&, Board&)) {
    child = Child(std::string(name), error, [this, role] { role(plan_, board_); });
}

void Stage::check_on_everybody() {
    for (Child* child : {&keeper_, &live_, &late_, &successor_})
        child->ended();
    for (Child& producer : producers_)
        producer.ended();
}

bool Stage::producers_ended() {
    bool all = successor_.ended();
    for (Child& producer : producers_)
        all = producer.ended() && all;
    return all;
}

void Stage::show_progress() {
    if (board_.started_ns.load(std::memory_order_relaxed) == 0 || !narrator_.progress_due())
        return;
    const std::uint64_t records = published();
    const std::int64_t now_ns = narrator_.elapsed_ns();
    const double period = static_cast<double>(now_ns - last_progress_ns_) / 1e9;
    const double per_second = period > 0 ? static_cast<double>(records - published_at_last_progress_) / period : 0;
    published_at_last_progress_ = records;
    last_progress_ns_ = now_ns;
    narrator_.progress(
        fmt::format("published {:>12} ({:>7}/s)  live {:>12}  late {:>12}  keys {:>6}", grouped(records),
                    rate(per_second), grouped(load(board_.live.read)),
                    board_.late.ready.load(std::memory_order_relaxed) ? grouped(load(board_.late.read)) : "-",
                    grouped(load(board_.live.keys))));
}

bool Stage::others_published() const noexcept {
    for (std::uint32_t index = 0; index < plan_.options.producers; ++index) {
        const ProducerPanel& panel = board_.producers[index];
        const bool done = index == plan_.victim || panel.finished.load(std::memory_order_relaxed);
        if (!done && panel.first_after_kill_ns.load(std::memory_order_relaxed) == 0)
            return false;
    }
    return true;
}

std::uint64_t Stage::published() const noexcept {
    std::uint64_t sum = load(board_.successor.published);
    for (const ProducerPanel& panel : board_.producers)
        sum += load(panel.published);
    return sum;
}

std::uint64_t Stage::fullest_partition() const noexcept {
    std::uint64_t most = 0;
    for (const Counter& position : board_.live.position)
        most = std::max(most, load(position));
    return most;
}

}  // namespace ringmain::cli::demo
