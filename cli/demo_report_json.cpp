// The report as one JSON object. All numbers are integers, except rates; times are in nanoseconds.
#include <nlohmann/json.hpp>

#include "demo_report.hpp"
#include "json_values.hpp"

namespace ringmain::cli::demo {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

Json latency_to_json(const Histogram& times) {
    return {{"count", times.count()},
            {"p50", times.percentile_ns(50'000)},
            {"p99", times.percentile_ns(99'000)},
            {"p99.9", times.percentile_ns(99'900)},
            {"max", times.max_ns()}};
}

Json consumer_to_json(const ConsumerPanel& panel) {
    return {{"read", load(panel.read)},
            {"gap_offsets", load(panel.gap_offsets)},
            {"skipped_offsets", load(panel.skipped_offsets)},
            {"missing", load(panel.missing)},
            {"keys", load(panel.keys)},
            {"order_violations", load(panel.violations)},
            {"foreign", load(panel.foreign)},
            {"joined_at_end", load(panel.joined_at_end)},
            {"replayed", load(panel.replayed)},
            {"latency_paced_ns", latency_to_json(panel.paced)},
            {"latency_flat_out_ns", latency_to_json(panel.flat_out)}};
}

Json producers_to_json(const RunResult& result) {
    Json producers = Json::array();
    for (std::uint32_t index = 0; index < result.plan.options.producers; ++index) {
        producers.push_back({{"producer", index},
                             {"published", load(result.board.producers[index].published)},
                             {"killed", index == result.plan.victim}});
    }
    producers.push_back({{"successor_of", result.plan.victim},
                         {"published", load(result.board.successor.published)},
                         {"found_in_log", load(result.board.successor.continued_at)}});
    return producers;
}

Json kill_to_json(const RunResult& result) {
    const KillCost cost = cost_of_kill(result);
    return {{"producer", result.plan.victim},
            {"while_publishing", result.facts.victim_was_publishing},
            {"published_before", result.facts.victim_published},
            {"others_published_ns", or_null(cost.others_published_ns)},
            {"first_record_ns", or_null(cost.first_record_ns)},
            {"every_partition_ns", or_null(cost.every_partition_ns)},
            {"successor_published_ns", or_null(cost.successor_published_ns)},
            {"closed_tickets", cost.closed_tickets},
            {"skipped_offsets", cost.skipped_offsets}};
}

Json log_to_json(const KeeperPanel& keeper) {
    return {{"log_start", load(keeper.log.log_start)},
            {"log_end", load(keeper.log.log_end)},
            {"closed_tickets", load(keeper.log.closed_tickets)},
            {"quarantined_cells", load(keeper.log.quarantined_cells)},
            {"reaped_producers", load(keeper.reaped_producers)},
            {"released_cells", load(keeper.released_cells)},
            {"bytes", load(keeper.topic_bytes)}};
}

}  // namespace

std::string report_to_json(const RunResult& result) {
    const Throughput speed = throughput(result);
    Json checks = Json::array();
    for (const Check& check : result.checks)
        checks.push_back({{"name", check.name}, {"ok", check.good}, {"detail", check.detail}});
    const Json source = result.plan.from_csv() ? Json{{"file", result.plan.options.input->string()},
                                                      {"rows", result.plan.csv.rows},
                                                      {"keys", result.plan.csv.keys}}
                                               : Json{{"file", "/proc"}};
    const Json object = {
        {"ok", result.good()},
        {"source", source},
        {"published", acknowledged(result.plan, result.board)},
        {"producers", producers_to_json(result)},
        {"live", consumer_to_json(result.board.live)},
        {"late", consumer_to_json(result.board.late)},
        {"records_per_second", {{"overall", speed.overall}, {"paced", speed.paced}, {"flat_out", speed.flat_out}}},
        {"kill", kill_to_json(result)},
        {"log", log_to_json(result.board.keeper)},
        {"stopped_early", result.facts.stopped_early},
        {"checks", checks}};
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringmain::cli::demo
