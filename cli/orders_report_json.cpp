// The report as one JSON object. All numbers are integers; times are in nanoseconds.
#include <nlohmann/json.hpp>

#include "json_values.hpp"
#include "orders_report.hpp"

namespace ringmain::cli::orders {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

Json repeats_to_json(const RunResult& result, std::uint32_t group) {
    Json repeats = Json::array();
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        if (kMembers[member].group != group || result.audits[group].repeats[member] == 0)
            continue;
        const auto fate = fate_of(result, member);
        repeats.push_back({{"member", kMembers[member].name},
                           {"fate", fate ? Json(*fate) : Json(nullptr)},
                           {"events", result.audits[group].repeats[member]}});
    }
    return repeats;
}

Json group_to_json(const RunResult& result, std::uint32_t group) {
    const GroupAudit& audit = result.audits[group];
    return {{"group", kGroups[group].name},
            {"members", kGroups[group].members},
            {"orders", audit.orders},
            {"handled", audit.handled},
            {"distinct", audit.distinct},
            {"missing", audit.missing},
            {"repeated", audit.repeated()},
            {"repeats", repeats_to_json(result, group)},
            {"first_disorder", audit.first_disorder},
            {"tenure_disorder", audit.tenure_disorder},
            {"handovers", audit.handovers},
            {"went_behind", audit.went_behind},
            {"longest_pause_ns", audit.longest_pause_ns},
            {"paused_partition", audit.paused_partition},
            {"lag", load(result.board.groups[group].lag)}};
}

Json cost_to_json(const RunResult& result, std::uint32_t member, std::int64_t signal_ns, std::uint64_t uncommitted) {
    const GroupAudit& audit = result.audits[kMembers[member].group];
    const Cost cost = cost_of(audit, result.journals, member, signal_ns);
    return {{"member", kMembers[member].name},
            {"partitions", cost.partitions},
            {"uncommitted", uncommitted},
            {"repeated", audit.repeats[member]},
            {"first_again_ns", or_null(cost.first_ns)},
            {"all_again_ns", or_null(cost.all_ns)}};
}

Json stop_to_json(const RunResult& result) {
    const Awakening awakening = awakening_of(result);
    Json stop = cost_to_json(result, kStopped, result.facts.moments.stopped_ns, result.facts.stopped_uncommitted);
    stop["in_hand"] = result.facts.stopped_in_hand;
    stop["finished_afterwards"] = awakening.finished;
    stop["commits_fenced"] = awakening.refused;
    stop["told_after_ns"] = or_null(awakening.told_after_ns);
    stop["handed_out_afterwards"] = awakening.polled;
    return stop;
}

Json trouble_to_json(std::uint32_t order, const Trouble& trouble) {
    return {{"order", order},
            {"failed", trouble.failed},
            {"printed_at_attempt", trouble.printed_at ? Json(*trouble.printed_at) : Json(nullptr)}};
}

Json queue_to_json(const RunResult& result) {
    const LabelsAudit& audit = result.labels;
    const QueuePanel& queue = result.board.queue;
    const LettersPanel& letters = result.board.letters;
    Json poison = trouble_to_json(kPoisonOrder, audit.poison);
    poison["letters"] = load(letters.letters);
    poison["replayed"] = load(letters.replayed);
    poison["replayed_again"] = load(letters.replayed_again);
    poison["printed_after_mending_ns"] = result.facts.poison_printed_after_ns;
    Json held_again_ns = nullptr;
    if (audit.held_again_ns)
        held_again_ns = *audit.held_again_ns - result.facts.moments.printer_killed_ns;
    return {{"queue", kQueue},
            {"topic", kLabels},
            {"workers", kPrinters.size()},
            {"partitions", kLabelPartitions},
            {"printed", audit.printed},
            {"distinct", audit.distinct},
            {"missing", audit.missing},
            {"deliveries", audit.deliveries},
            {"repeated", audit.repeated},
            {"repeated_otherwise", audit.repeated_other},
            {"lag", load(queue.lag)},
            {"returned", load(queue.returned)},
            {"expired", load(queue.expired)},
            {"dead_lettered", load(queue.dead_lettered)},
            {"kill",
             {{"worker", kPrinters[kKilledPrinter]},
              {"held", audit.held.labels},
              {"printed", audit.held.printed},
              {"delivered_again", audit.held_again},
              {"all_again_ns", held_again_ns}}},
            {"poison", poison},
            {"flaky", trouble_to_json(kFlakyOrder, audit.flaky)}};
}

}  // namespace

std::string report_to_json(const RunResult& result) {
    Json groups = Json::array();
    for (std::uint32_t group = 0; group < kGroups.size(); ++group)
        groups.push_back(group_to_json(result, group));
    Json checks = Json::array();
    for (const demo::Check& check : result.checks)
        checks.push_back({{"name", check.name}, {"ok", check.good}, {"detail", check.detail}});
    const Json object = {
        {"ok", result.good()},
        {"scenario", "orders"},
        {"orders", result.plan.orders()},
        {"events", result.plan.events()},
        {"produced_for_ns", result.facts.produced_for_ns},
        {"groups", groups},
        {"kill", cost_to_json(result, kKilled, result.facts.moments.killed_ns, result.facts.killed_uncommitted)},
        {"stop", stop_to_json(result)},
        {"queue", queue_to_json(result)},
        {"evicted_by_keeper", load(result.board.house.evicted_members)},
        {"checks", checks}};
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringmain::cli::orders
