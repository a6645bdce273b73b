// The metrics of the daemon's own process, by the names that Prometheus' clients use.
#pragma once

#include "metrics_family.hpp"

namespace ringmain::daemon {

[[nodiscard]] std::vector<MetricInfo> process_metrics();
/// What /proc does not tell is left out.
[[nodiscard]] MetricFamilies collect_process();

}  // namespace ringmain::daemon
