// Topics and their groups. What was looked at before stays mapped, unless its name leads elsewhere by now.
#include <algorithm>

#include "error_about.hpp"
#include "stats_reader_impl.hpp"
#include "topic_description.hpp"
#include "work_leftovers.hpp"

namespace ringmain {

/// Deleted topics are found out by whoever opens them; these were removed or replaced by hand.
void StatsReader::Impl::forget_lost_topics() {
    for (auto at = known_.begin(); at != known_.end();) {
        if (at->second.files->in_place()) {
            ++at;
        } else {
            forget(at->first);
            at = known_.erase(at);
        }
    }
}

std::vector<std::string> StatsReader::Impl::names() {
    std::vector<std::string> names =
        broker_->list_topics([this](const std::string& name) { return known_.contains(name); });
    for (const auto& [name, known] : known_)
        names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

TopicStats StatsReader::Impl::look_at_topic(const std::string& name, const StatsOptions& options) {
    TopicStats stats;
    stats.name = name;
    try {
        fill(stats, options);
    } catch (const Error& error) {
        stats = TopicStats{name, error.what(), error.code(), {}, {}, {}, {}};
        forget(name);
        known_.erase(name);
    }
    return stats;
}

void StatsReader::Impl::fill(TopicStats& stats, const StatsOptions& options) {
    if (!known_.contains(stats.name))
        forget(stats.name);
    AdminTopic& topic = groups_.open(stats.name);
    if (!known_.contains(stats.name)) {
        known_.emplace(stats.name, Known{topic.handle(), std::vector<QuarantineCount>(topic.partitions())});
    }
    Known& known = known_.at(stats.name);
    known.quarantined.resize(topic.partitions());
    stats.description = describe_options(topic.files());
    for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition)
        stats.partitions.push_back(look_at_partition(topic, partition, known, options));
    if (options.groups) {
        stats.groups = groups_.describe_all(topic, options.lag);
        stats.queues = look_at_queues(topic, options);
    }
    work_leftovers_ += count_work_leftovers(topic.files(), broker_->clients());
    topic.files().check_whole();
    if (topic.files().deleted())
        throw error_about(ErrorCode::topic_deleted, "topic '" + stats.name + "'", "was deleted");
}

/// Of those that are still there.
std::vector<QueueStats> StatsReader::Impl::look_at_queues(AdminTopic& topic, const StatsOptions& options) {
    std::vector<QueueStats> all;
    for (const group_table::GroupView& group : group_table::view_groups(topic.groups())) {
        if (group.options.kind != group_table::GroupKind::queue)
            continue;
        QueueStats stats;
        try {
            static_cast<QueueDescription&>(stats) = queues_.describe(topic, group.name, options.lag);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::not_found || error.code() == ErrorCode::topic_deleted)
                continue;
            stats.topic = topic.name();
            stats.name = group.name;
            stats.error = error.what();
            stats.error_code = error.code();
        }
        all.push_back(std::move(stats));
    }
    std::sort(all.begin(), all.end(), [](const QueueStats& a, const QueueStats& b) { return a.name < b.name; });
    return all;
}

void StatsReader::Impl::forget(const std::string& topic) {
    queues_.forget(topic);
    groups_.forget(topic);
}

}  // namespace ringmain
