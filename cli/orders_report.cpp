// The table for people.
#include "orders_report.hpp"

#include <fmt/format.h>

#include <iterator>

#include "demo_text.hpp"

namespace ringmain::cli::orders {

namespace {

using demo::duration;
using demo::grouped;

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

template <class... Args>
void line(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
    text.push_back('\n');
}

std::string duration_or_dash(const std::optional<std::uint64_t>& time_ns) { return time_ns ? duration(*time_ns) : "-"; }

void write_groups(std::string& text, const RunResult& result) {
    line(text, "{} orders, {} events in {}", grouped(result.plan.orders()), grouped(result.plan.events()),
         duration(result.facts.produced_for_ns));
    line(text,
         "group      members  orders handled  events handled  repeated  hand-overs  longest pause of a partition  lag");
    for (std::uint32_t group = 0; group < kGroups.size(); ++group) {
        const GroupAudit& audit = result.audits[group];
        line(text, "{:10} {:>7} {:>15} {:>15} {:>9} {:>11} {:>29} {:>4}", kGroups[group].name, kGroups[group].members,
             grouped(audit.orders), grouped(audit.handled), grouped(audit.repeated()), grouped(audit.handovers),
             fmt::format("{} (partition {})", duration(audit.longest_pause_ns), audit.paused_partition),
             grouped(load(result.board.groups[group].lag)));
    }
}

void write_cost(std::string& text, const RunResult& result, const char* what, std::uint32_t member,
                std::int64_t signal_ns) {
    const GroupAudit& audit = result.audits[kMembers[member].group];
    const Cost cost = cost_of(audit, result.journals, member, signal_ns);
    line(text, "{} {}", what, kMembers[member].name);
    line(text, "  all of its {} partitions were worked on again after   {:>10}", cost.partitions,
         duration_or_dash(cost.all_ns));
    line(text, "  events that others repeated                          {:>10}", grouped(audit.repeats[member]));
}

void write_awakening(std::string& text, const RunResult& result) {
    const Awakening awakening = awakening_of(result);
    line(text, "  of them handled after it was continued (in its hands) {:>9}", grouped(awakening.finished));
    line(text, "  partitions whose commit was refused as fenced        {:>10}", grouped(awakening.refused));
    line(text, "  told that it was evicted after                       {:>10}",
         duration_or_dash(awakening.told_after_ns));
    line(text, "  events handed out to it from then on                 {:>10}", grouped(awakening.polled));
}

}  // namespace

std::string report_to_text(const RunResult& result) {
    std::string text = "\n";
    write_groups(text, result);
    write_cost(text, result, "the kill of", kKilled, result.facts.moments.killed_ns);
    write_cost(text, result, "the stop of", kStopped, result.facts.moments.stopped_ns);
    write_awakening(text, result);
    line(text, "  session time-out {}; members evicted by the keeper: {}, the others by members",
         duration(static_cast<std::uint64_t>(std::chrono::nanoseconds(kSessionTimeout).count())),
         grouped(load(result.board.house.evicted_members)));
    line(text, "counts");
    for (const demo::Check& check : result.checks)
        line(text, "  {:5} {}: {}", check.good ? "ok" : "WRONG", check.name, check.detail);
    return text;
}

}  // namespace ringmain::cli::orders
