// All metrics of the daemon, as Prometheus reads them.
#pragma once

#include <prometheus/collectable.h>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "keeper_thread.hpp"
#include "metrics_family.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::daemon {

/// Every metric that is ever served.
[[nodiscard]] std::vector<MetricInfo> all_metrics();

/// Thread safety: all calls from any thread. One look at the broker at a time, and one for all who asked before it began.
class MetricsCollector : public prometheus::Collectable {
public:
    MetricsCollector(const Broker& broker, const KeeperThread& keeper)
        : reader_(broker), letters_(broker), keeper_(keeper) {}

    /// Throws Error: what StatsReader::take throws.
    [[nodiscard]] MetricFamilies Collect() const override;
    using Clock = std::chrono::steady_clock;
    /// In Prometheus' text format, of a look that began after `asked`.
    [[nodiscard]] std::string text(Clock::time_point asked) const;

private:
    mutable std::mutex mutex_;
    mutable StatsReader reader_;
    mutable DeadLetters letters_;
    const KeeperThread& keeper_;
    mutable Clock::time_point begun_{};
    mutable std::string text_;  // of the look that was begun then
};

}  // namespace ringmain::daemon
