// The metrics of the keeper, and what was built.
#include "metrics_keeper.hpp"

#include <array>

namespace ringmain::daemon {

namespace {

double number(std::uint64_t value) noexcept { return static_cast<double>(value); }
double seconds(std::chrono::nanoseconds time) noexcept { return std::chrono::duration<double>(time).count(); }

const std::array kMetrics = {
    MetricOf<KeeperStatistics>{{"ringmain_keeper_steps_total", MetricKind::counter, "", "Steps of the keeper."},
                               [](const KeeperStatistics& k) { return number(k.steps); }},
    MetricOf<KeeperStatistics>{
        {"ringmain_keeper_idle_steps_total", MetricKind::counter, "", "Steps that found nothing to do."},
        [](const KeeperStatistics& k) { return number(k.idle_steps); }},
    MetricOf<KeeperStatistics>{
        {"ringmain_keeper_last_step_seconds", MetricKind::gauge, "", "How long the last step took."},
        [](const KeeperStatistics& k) { return seconds(k.last_step); }},
    MetricOf<KeeperStatistics>{{"ringmain_keeper_longest_step_seconds", MetricKind::gauge, "",
                                "The longest step since the daemon was started."},
                               [](const KeeperStatistics& k) { return seconds(k.longest_step); }},
    MetricOf<KeeperStatistics>{{"ringmain_keeper_longest_step_of_minute_seconds", MetricKind::gauge, "",
                                "The longest step of the last minute."},
                               [](const KeeperStatistics& k) { return seconds(k.longest_step_of_minute); }},
    MetricOf<KeeperStatistics>{{"ringmain_keeper_topics", MetricKind::gauge, "", "Topics that the keeper looks after."},
                               [](const KeeperStatistics& k) { return number(k.topics); }},
    MetricOf<KeeperStatistics>{{"ringmain_keeper_partitions", MetricKind::gauge, "", "Partitions of those topics."},
                               [](const KeeperStatistics& k) { return number(k.partitions); }},
    MetricOf<KeeperStatistics>{
        {"ringmain_keeper_unreadable_topics", MetricKind::gauge, "", "Topics that nobody looks after."},
        [](const KeeperStatistics& k) { return number(k.unreadable_topics); }},
    MetricOf<KeeperStatistics>{{"ringmain_keeper_unreadable_partitions", MetricKind::gauge, "",
                                "Partitions of topics that are looked after that nobody looks after."},
                               [](const KeeperStatistics& k) { return number(k.unreadable_partitions); }},
    MetricOf<KeeperStatistics>{
        {"ringmain_keeper_clients", MetricKind::gauge, "", "Clients that are alive in the broker directory."},
        [](const KeeperStatistics& k) { return number(k.clients); }},
    MetricOf<KeeperStatistics>{
        {"ringmain_keeper_watched_clients", MetricKind::gauge, "", "Those whose end is noticed at once."},
        [](const KeeperStatistics& k) { return number(k.watched_clients); }},
    MetricOf<KeeperStatistics>{{"ringmain_keeper_keeping", MetricKind::gauge, "",
                                "0: another keeper took over, or the client table was replaced; nothing is recycled."},
                               [](const KeeperStatistics& k) { return k.keeping ? 1.0 : 0.0; }},
};
constexpr MetricInfo kEvents{"ringmain_keeper_events_total", MetricKind::counter, "kind",
                             "What the keeper did and found."};
constexpr MetricInfo kBuild{"ringmain_build_info", MetricKind::gauge, "version", "1, for the version of the daemon."};

}  // namespace

std::vector<MetricInfo> keeper_metrics() {
    std::vector<MetricInfo> infos;
    for (const auto& metric : kMetrics)
        infos.push_back(metric.info);
    infos.push_back(kEvents);
    infos.push_back(kBuild);
    return infos;
}

MetricFamilies collect_keeper(const KeeperThread& keeper) {
    const KeeperStatistics statistics = keeper.keeper().statistics();
    MetricFamilies families;
    for (const auto& metric : kMetrics) {
        families.push_back(family_of(metric.info));
        add_sample(families.back(), metric.info, {}, metric.value(statistics));
    }
    prometheus::MetricFamily events = family_of(kEvents);
    KeeperEventCounts::for_each_kind([&](KeeperEventKind kind) {
        add_sample(events, kEvents, {std::string(to_string(kind))}, number(keeper.events().of(kind)));
    });
    families.push_back(std::move(events));
    families.push_back(family_of(kBuild));
    add_sample(families.back(), kBuild, {RINGMAIN_VERSION}, 1);
    return families;
}

}  // namespace ringmain::daemon
