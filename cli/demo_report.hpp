// The table, or the JSON object, that a run of the demo ends with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demo_board.hpp"
#include "demo_checks.hpp"
#include "demo_plan.hpp"
#include "demo_stage.hpp"

namespace ringmain::cli::demo {

struct RunResult {
    const Plan& plan;
    const Board& board;
    const StageFacts& facts;
    const std::vector<Check>& checks;

    [[nodiscard]] bool good() const noexcept;
};

/// What the kill cost the others: times from right before the signal. Nothing: it never happened (e.g. no other
/// producer).
struct KillCost {
    std::optional<std::uint64_t> others_published_ns;  ///< Until every other producer had published again.
    std::optional<std::uint64_t> first_record_ns;      ///< Until the live consumer had a record published afterwards.
    std::optional<std::uint64_t> every_partition_ns;   ///< Until it had one from every partition.
    std::optional<std::uint64_t> successor_published_ns;  ///< Until the successor published.
    std::uint64_t closed_tickets = 0;
    std::uint64_t skipped_offsets = 0;
};
[[nodiscard]] KillCost cost_of_kill(const RunResult& result);

/// Records per second over the whole run, while paced, and flat out (0: there was no such time).
struct Throughput {
    double overall = 0;
    double paced = 0;
    double flat_out = 0;
};
[[nodiscard]] Throughput throughput(const RunResult& result);

[[nodiscard]] std::string report_to_text(const RunResult& result);
[[nodiscard]] std::string report_to_json(const RunResult& result);

}  // namespace ringmain::cli::demo
