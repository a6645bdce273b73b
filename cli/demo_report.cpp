// The figures behind the report, and the table for people.
#include "demo_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "demo_text.hpp"

namespace ringmain::cli::demo {

namespace {

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

template <class... Args>
void line(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
    text.push_back('\n');
}

std::string share_of(const Plan& plan, std::uint32_t producer) {
    if (plan.from_csv())
        return "the keys of its share";
    std::string files;
    for (const TelemetryFile& file : plan.shares[producer])
        files.append(files.empty() ? "" : " ").append(file.name);
    return files;
}

void write_published(std::string& text, const RunResult& result) {
    const Throughput speed = throughput(result);
    line(text, "published {:>30}   {}/s over {}", grouped(acknowledged(result.plan, result.board)), rate(speed.overall),
         duration(static_cast<std::uint64_t>(result.facts.produced_for_ns)));
    if (speed.flat_out > 0)
        line(text, "{:43}{}/s paced, {}/s flat out", "", rate(speed.paced), rate(speed.flat_out));
    for (std::uint32_t index = 0; index < result.plan.options.producers; ++index) {
        line(text, "  producer {} {:>28}   {}{}", index, grouped(load(result.board.producers[index].published)),
             share_of(result.plan, index), index == result.plan.victim ? "; killed" : "");
    }
    line(text, "  successor of {} {:>24}   found {} records of its predecessor in the log", result.plan.victim,
         grouped(load(result.board.successor.published)), grouped(load(result.board.successor.continued_at)));
}

void write_read(std::string& text, const RunResult& result) {
    const ConsumerPanel& live = result.board.live;
    const ConsumerPanel& late = result.board.late;
    const auto row = [&](const char* name, const Counter ConsumerPanel::*counter) {
        line(text, "  {:24} {:>14} {:>16}", name, grouped(load(live.*counter)), grouped(load(late.*counter)));
    };
    line(text, "read {:>37} {:>16}", "live consumer", "late consumer");
    row("records", &ConsumerPanel::read);
    row("lost in reported gaps", &ConsumerPanel::gap_offsets);
    row("skipped offsets", &ConsumerPanel::skipped_offsets);
    row("in the log when it came", &ConsumerPanel::joined_at_end);
    row("keys, order checked", &ConsumerPanel::keys);
    row("violations of the order", &ConsumerPanel::violations);
}

void write_latency(std::string& text, const char* name, const Histogram& times) {
    if (times.count() == 0)
        return;
    line(text, "  {:24} {:>10} {:>10} {:>10} {:>10}", name, duration(times.percentile_ns(50'000)),
         duration(times.percentile_ns(99'000)), duration(times.percentile_ns(99'900)), duration(times.max_ns()));
}

void write_latencies(std::string& text, const RunResult& result) {
    line(text, "publish to receive {:>18} {:>10} {:>10} {:>10}", "p50", "p99", "p99.9", "max");
    write_latency(text, "live, paced", result.board.live.paced);
    write_latency(text, "late, paced", result.board.late.paced);
    write_latency(text, "live, flat out", result.board.live.flat_out);
    write_latency(text, "late, flat out", result.board.late.flat_out);
    line(text, "  {} processes share {} processors{}", result.plan.options.producers + 3,
         ::sysconf(_SC_NPROCESSORS_ONLN),
         result.board.live.flat_out.count() == 0 ? "" : "; flat out the ring is full, so records queue");
}

std::string duration_or_dash(const std::optional<std::uint64_t>& time_ns) { return time_ns ? duration(*time_ns) : "-"; }

void write_kill(std::string& text, const RunResult& result) {
    const KillCost cost = cost_of_kill(result);
    line(text, "the kill of producer {} {}", result.plan.victim,
         result.facts.victim_was_publishing ? "(while publishing)" : "(its input was used up)");
    line(text, "  every other producer had published again after {:>10}", duration_or_dash(cost.others_published_ns));
    line(text, "  the live consumer had a newer record after     {:>10}", duration_or_dash(cost.first_record_ns));
    line(text, "  and one from every partition after             {:>10}", duration_or_dash(cost.every_partition_ns));
    line(text, "  the successor published after                  {:>10}",
         duration_or_dash(cost.successor_published_ns));
    line(text,
         "  tickets closed {}, offsets skipped {} around it; over the run {} and {}; {} producer slots reaped, {} "
         "cells released",
         grouped(cost.closed_tickets), grouped(cost.skipped_offsets),
         grouped(load(result.board.keeper.log.closed_tickets)), grouped(load(result.board.live.skipped_offsets)),
         grouped(load(result.board.keeper.reaped_producers)), grouped(load(result.board.keeper.released_cells)));
}

void write_top_keys(std::string& text, const RunResult& result) {
    line(text, "live summary{}, the keys that moved most",
         result.plan.from_csv() ? " of " + result.plan.csv.value_name : "");
    line(text, "  {:34} {:>14} {:>16} {:>16} {:>12}", "key", "last", "min", "max", "count");
    for (const KeyLine& key : result.board.live.top_keys) {
        if (key.count == 0)
            continue;
        line(text, "  {:34} {:>14} {:>16} {:>16} {:>12}", key.key.data(), key.last.data(), value(key.min),
             value(key.max), grouped(key.count));
    }
}

}  // namespace

bool RunResult::good() const noexcept {
    return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.good; });
}

KillCost cost_of_kill(const RunResult& result) {
    const Board& board = result.board;
    const std::int64_t killed_ns = board.killed_ns.load(std::memory_order_relaxed);
    const auto since = [killed_ns](std::int64_t when_ns) -> std::optional<std::uint64_t> {
        if (when_ns == 0)
            return std::nullopt;
        return static_cast<std::uint64_t>(std::max<std::int64_t>(when_ns - killed_ns, 0));
    };
    KillCost cost;
    std::int64_t last_other = 0;
    for (std::uint32_t index = 0; index < result.plan.options.producers; ++index) {
        if (index == result.plan.victim)
            continue;
        last_other = std::max(last_other, board.producers[index].first_after_kill_ns.load(std::memory_order_relaxed));
    }
    cost.others_published_ns = since(last_other);
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool everywhere = true;
    for (const auto& received : board.live.first_after_kill_ns) {
        const std::int64_t when_ns = received.load(std::memory_order_relaxed);
        everywhere = everywhere && when_ns != 0;
        if (when_ns != 0 && (first == 0 || when_ns < first))
            first = when_ns;
        last = std::max(last, when_ns);
    }
    cost.first_record_ns = since(first);
    cost.every_partition_ns = since(everywhere ? last : 0);
    cost.successor_published_ns = since(board.successor.first_after_kill_ns.load(std::memory_order_relaxed));
    cost.closed_tickets = result.facts.closed_after_kill - result.facts.closed_before_kill;
    cost.skipped_offsets = result.facts.skipped_after_kill - result.facts.skipped_before_kill;
    return cost;
}

Throughput throughput(const RunResult& result) {
    const StageFacts& facts = result.facts;
    const auto per_second = [](std::uint64_t records, std::int64_t time_ns) {
        return time_ns > 0 ? static_cast<double>(records) * 1e9 / static_cast<double>(time_ns) : 0.0;
    };
    const std::uint64_t all = acknowledged(result.plan, result.board);
    Throughput speed;
    speed.overall = per_second(all, facts.produced_for_ns);
    if (facts.flat_out_after_ns == 0)
        return speed;
    speed.paced = per_second(facts.published_when_flat_out, facts.flat_out_after_ns);
    speed.flat_out = per_second(all - facts.published_when_flat_out, facts.produced_for_ns - facts.flat_out_after_ns);
    return speed;
}

std::string report_to_text(const RunResult& result) {
    std::string text = "\n";
    write_published(text, result);
    write_read(text, result);
    write_latencies(text, result);
    write_kill(text, result);
    write_top_keys(text, result);
    line(text, "counts");
    for (const Check& check : result.checks)
        line(text, "  {:5} {}: {}", check.good ? "ok" : "WRONG", check.name, check.detail);
    return text;
}

}  // namespace ringmain::cli::demo
