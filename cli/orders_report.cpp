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

/// "email-2 (killed) 8, email-3 (stopped) 6"
std::string repeats_of(const RunResult& result, std::uint32_t group) {
    std::string text;
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        const std::uint64_t repeats = result.audits[group].repeats[member];
        if (repeats == 0)
            continue;
        text += fmt::format("{}{} ({}) {}", text.empty() ? "" : ", ", kMembers[member].name,
                            fate_of(result, member).value_or("?"), grouped(repeats));
    }
    return text.empty() ? "-" : text;
}

void write_groups(std::string& text, const RunResult& result) {
    line(text, "{} orders, {} events in {}", grouped(result.plan.orders()), grouped(result.plan.events()),
         duration(result.facts.produced_for_ns));
    line(text, "{:10} {:>7} {:>8} {:>9} {:>10} {:>23} {:>4} {:>9}  {}", "group", "orders", "handled", "members",
         "hand-overs", "longest pause", "lag", "repeated", "of these by");
    for (std::uint32_t group = 0; group < kGroups.size(); ++group) {
        const GroupAudit& audit = result.audits[group];
        line(text, "{:10} {:>7} {:>8} {:>9} {:>10} {:>23} {:>4} {:>9}  {}", kGroups[group].name, grouped(audit.orders),
             grouped(audit.handled), kGroups[group].members, grouped(audit.handovers),
             fmt::format("{} (partition {})", duration(audit.longest_pause_ns), audit.paused_partition),
             grouped(load(result.board.groups[group].lag)), grouped(audit.repeated()), repeats_of(result, group));
    }
}

void write_cost(std::string& text, const RunResult& result, const char* what, std::uint32_t member,
                std::int64_t signal_ns) {
    const GroupAudit& audit = result.audits[kMembers[member].group];
    const Cost cost = cost_of(audit, result.journals, member, signal_ns);
    line(text, "the {} of {}", what, kMembers[member].name);
    line(text, "  others worked on all of its {} partitions after {:>10}", cost.partitions,
         duration_or_dash(cost.all_ns));
    line(text, "  events that it and others handled             {:>10}", grouped(audit.repeats[member]));
}

void write_awakening(std::string& text, const RunResult& result) {
    const Awakening awakening = awakening_of(result);
    line(text, "  some of them after it was continued           {:>10}   it had them in hand already",
         grouped(awakening.finished));
    line(text, "  partitions whose commit was then refused      {:>10}   fenced: they are another member's",
         grouped(awakening.refused));
    line(text, "  told that it was evicted after                {:>10}", duration_or_dash(awakening.told_after_ns));
    line(text, "  events handed out to it since                 {:>10}", grouped(awakening.polled));
}

std::optional<std::uint64_t> returned_after_ns(const RunResult& result) {
    if (!result.labels.held_again_ns)
        return std::nullopt;
    return static_cast<std::uint64_t>(*result.labels.held_again_ns - result.facts.moments.printer_killed_ns);
}

void write_labels(std::string& text, const RunResult& result) {
    const LabelsAudit& audit = result.labels;
    line(text, "the queue {} of {}: {} workers, {} partitions", kQueue, kLabels, kPrinters.size(), kLabelPartitions);
    line(text, "  labels printed                                {:>10}   in {} deliveries", grouped(audit.printed),
         grouped(audit.deliveries));
    line(text, "  held by {} when it was killed          {:>10}   {} of them printed, which others did again",
         kPrinters[kKilledPrinter], grouped(audit.held.labels), grouped(audit.held.printed));
    line(text, "  all of these in others' hands after           {:>10}", duration_or_dash(returned_after_ns(result)));
    line(text,
         "  attempts of the poison order that failed      {:>10}   then {} letter, replayed when the map was mended",
         grouped(audit.poison.failed), grouped(load(result.board.letters.letters)));
    line(text, "  printed then after                            {:>10}",
         duration(result.facts.poison_printed_after_ns));
    line(text, "  attempts of the flaky order that failed       {:>10}   then it was printed",
         grouped(audit.flaky.failed));
}

}  // namespace

std::string report_to_text(const RunResult& result) {
    std::string text = "\n";
    write_groups(text, result);
    write_cost(text, result, "kill", kKilled, result.facts.moments.killed_ns);
    write_cost(text, result, "stop", kStopped, result.facts.moments.stopped_ns);
    write_awakening(text, result);
    write_labels(text, result);
    line(text, "session time-out {}; evicted by the keeper {}, all others by members of their group",
         duration(static_cast<std::uint64_t>(std::chrono::nanoseconds(kSessionTimeout).count())),
         grouped(load(result.board.house.evicted_members)));
    line(text, "counts");
    for (const demo::Check& check : result.checks)
        line(text, "  {:5} {}: {}", check.good ? "ok" : "WRONG", check.name, check.detail);
    return text;
}

}  // namespace ringmain::cli::orders
