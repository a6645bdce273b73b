// What is needed to serve a metric.
#include "metrics_family.hpp"

#include <nlohmann/json.hpp>

namespace ringmain::daemon {

namespace {

std::vector<std::string> names_in(std::string_view labels) {
    std::vector<std::string> names;
    while (!labels.empty()) {
        const std::size_t end = std::min(labels.find(", "), labels.size());
        names.emplace_back(labels.substr(0, end));
        labels.remove_prefix(std::min(end + 2, labels.size()));
    }
    return names;
}

// Names of groups and processes can be any bytes; a scraper drops everything when one of them is not UTF-8.
std::string valid_utf8(const std::string& text) {
    using Json = nlohmann::json;
    return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

}  // namespace

prometheus::MetricFamily family_of(const MetricInfo& info) {
    prometheus::MetricFamily family;
    family.name = info.name;
    family.help = info.help;
    family.type = info.kind == MetricKind::counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
    return family;
}

void add_sample(prometheus::MetricFamily& family, const MetricInfo& info, const LabelValues& labels, double value) {
    prometheus::ClientMetric metric;
    const std::vector<std::string> names = names_in(info.labels);
    for (std::size_t i = 0; i < names.size(); ++i)
        metric.label.push_back({names[i], valid_utf8(labels.at(i))});
    (info.kind == MetricKind::counter ? metric.counter.value : metric.gauge.value) = value;
    family.metric.push_back(std::move(metric));
}

}  // namespace ringmain::daemon
