// Plans of resets as JSON, in files that a reset can be finished from.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

using ResetPlans = std::vector<ResetPlan>;  ///< One per topic.

/// {"format", "version", "plans": [{"topic", "topic_id", "group", …, "partitions": [{"partition", "committed", "target", …}]}]}
[[nodiscard]] nlohmann::ordered_json plans_to_json(const ResetPlans& plans);

/// Writes a file that is complete or not there. Throws CommandError naming the path.
void save_plans(const std::string& path, const ResetPlans& plans);

/// Reads what save_plans wrote, or standard input ("-"). Throws CommandError naming the path and what is wrong with it.
[[nodiscard]] ResetPlans read_plans(const std::string& path);

}  // namespace ringmain::cli
