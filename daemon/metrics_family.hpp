// What is needed to serve a metric: its name, its kind, its labels and what it means.
#pragma once

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::daemon {

enum class MetricKind : std::uint8_t { counter, gauge };

/// docs/metrics.md has a row for each; a test compares.
struct MetricInfo {
    const char* name;
    MetricKind kind;
    const char* labels;  ///< Names, with ", " between them.
    const char* help;
};

using MetricFamilies = std::vector<prometheus::MetricFamily>;
/// In the order of MetricInfo::labels. Bytes that are no UTF-8 become U+FFFD.
using LabelValues = std::vector<std::string>;

[[nodiscard]] prometheus::MetricFamily family_of(const MetricInfo& info);
void add_sample(prometheus::MetricFamily& family, const MetricInfo& info, const LabelValues& labels, double value);

/// A metric that every `Thing` has a value of.
template <class Thing>
struct MetricOf {
    MetricInfo info;
    double (*value)(const Thing&);
};

}  // namespace ringmain::daemon
