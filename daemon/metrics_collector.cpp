// All metrics of the daemon, as Prometheus reads them.
#include "metrics_collector.hpp"

#include <prometheus/text_serializer.h>

#include <iterator>
#include <sstream>

#include "metrics_broker.hpp"
#include "metrics_keeper.hpp"
#include "metrics_letters.hpp"
#include "metrics_process.hpp"

namespace ringmain::daemon {

namespace {

constexpr MetricInfo kDuration{"ringmain_metrics_collection_seconds", MetricKind::gauge, "",
                               "How long it took to collect these metrics."};

template <class Things>
void append(Things& all, Things&& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<MetricInfo> all_metrics() {
    std::vector<MetricInfo> all = broker_metrics();
    append(all, letter_metrics());
    append(all, keeper_metrics());
    append(all, process_metrics());
    all.push_back(kDuration);
    return all;
}

MetricFamilies MetricsCollector::Collect() const {
    const auto begun = Clock::now();
    const BrokerStats stats = reader_.take();
    MetricFamilies families = collect_broker(stats);
    append(families, collect_letters(letters_, stats));
    append(families, collect_keeper(keeper_));
    append(families, collect_process());
    families.push_back(family_of(kDuration));
    add_sample(families.back(), kDuration, {}, std::chrono::duration<double>(Clock::now() - begun).count());
    return families;
}

std::string MetricsCollector::text(Clock::time_point asked) const {
    const std::lock_guard lock(mutex_);
    if (begun_ >= asked)
        return text_;
    const auto begun = Clock::now();
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, Collect());
    text_ = std::move(out).str();
    begun_ = begun;
    return text_;
}

}  // namespace ringmain::daemon
