// The metrics of the keeper, and what was built.
#pragma once

#include "keeper_thread.hpp"
#include "metrics_family.hpp"

namespace ringmain::daemon {

[[nodiscard]] std::vector<MetricInfo> keeper_metrics();
[[nodiscard]] MetricFamilies collect_keeper(const KeeperThread& keeper);

}  // namespace ringmain::daemon
