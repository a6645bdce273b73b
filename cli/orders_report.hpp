// What a run of the story is judged by, and the table or the JSON object that it ends with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demo_check.hpp"
#include "orders_audit.hpp"
#include "orders_board.hpp"
#include "orders_labels_audit.hpp"
#include "orders_plan.hpp"
#include "orders_stage.hpp"

namespace ringmain::cli::orders {

struct RunResult {
    const Plan& plan;
    const Board& board;
    StageFacts facts;
    Journals journals;
    std::array<GroupAudit, kGroups.size()> audits;
    LabelsAudit labels;
    std::vector<demo::Check> checks;

    [[nodiscard]] bool good() const noexcept;
};

/// Audits and checks. Requires that all children have ended.
[[nodiscard]] RunResult judge(const Plan& plan, const Records& records, const StageFacts& facts);

/// What the stopped member did after it was continued.
struct Awakening {
    std::optional<std::uint64_t> told_after_ns;  ///< Until a poll told it that it was evicted.
    std::uint64_t finished = 0;                  ///< Events that it had in hand and handled then.
    std::uint64_t polled = 0;                    ///< Events that polls handed out to it then.
    std::uint64_t refused = 0;                   ///< Partitions whose commit was refused as fenced.
};
[[nodiscard]] Awakening awakening_of(const RunResult& result);

/// Why a member's partitions went to others without its doing; nothing if they did not.
[[nodiscard]] std::optional<std::string> fate_of(const RunResult& result, std::uint32_t member);

[[nodiscard]] std::string report_to_text(const RunResult& result);
[[nodiscard]] std::string report_to_json(const RunResult& result);

}  // namespace ringmain::cli::orders
