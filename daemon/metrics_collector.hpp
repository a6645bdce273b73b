// All metrics of the daemon, as Prometheus reads them.
#pragma once

#include <prometheus/collectable.h>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "keeper_thread.hpp"
#include "metrics_family.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::daemon {

/// Every metric that is ever served.
[[nodiscard]] std::vector<MetricInfo> all_metrics();

/// Thread safety: all calls from any thread. One look at the broker at a time: whoever came while one was waited for
/// gets the next one, all together.
class MetricsCollector : public prometheus::Collectable {
public:
    MetricsCollector(const Broker& broker, const KeeperThread& keeper) : reader_(broker), keeper_(keeper) {}

    /// Throws Error: what StatsReader::take throws.
    [[nodiscard]] MetricFamilies Collect() const override;
    /// In Prometheus' text format.
    [[nodiscard]] std::string text() const;

private:
    using Clock = std::chrono::steady_clock;

    mutable std::mutex mutex_;
    mutable StatsReader reader_;
    const KeeperThread& keeper_;
    mutable Clock::time_point begun_{};
    mutable std::string text_;  // of the look that was begun then
};

}  // namespace ringmain::daemon
