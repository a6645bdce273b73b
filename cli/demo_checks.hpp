// The counts that must be right after a run of the demo.
#pragma once

#include <vector>

#include "demo_board.hpp"
#include "demo_check.hpp"
#include "demo_plan.hpp"
#include "demo_stage.hpp"

namespace ringmain::cli::demo {

/// Records that publish answered ok to, as the producers counted them.
[[nodiscard]] std::uint64_t acknowledged(const Plan& plan, const Board& board) noexcept;

/// Requires that all children have ended.
[[nodiscard]] std::vector<Check> check_counts(const Plan& plan, const Board& board, const StageFacts& facts);

}  // namespace ringmain::cli::demo
