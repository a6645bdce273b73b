// The metrics of a broker's topics, partitions, groups and clients, from one look at it.
#pragma once

#include "metrics_family.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::daemon {

/// Clients that have samples of their own; the others are counted only.
inline constexpr std::size_t kClientsShown = 256;

[[nodiscard]] std::vector<MetricInfo> broker_metrics();
[[nodiscard]] MetricFamilies collect_broker(const BrokerStats& stats);

}  // namespace ringmain::daemon
