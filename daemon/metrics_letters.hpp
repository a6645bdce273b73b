// The metrics of dead letters.
#pragma once

#include "metrics_family.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::daemon {

[[nodiscard]] std::vector<MetricInfo> letter_metrics();
/// Of the topics in `stats` that keep dead letters.
[[nodiscard]] MetricFamilies collect_letters(DeadLetters& letters, const BrokerStats& stats);

}  // namespace ringmain::daemon
