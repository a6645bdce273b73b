// Topics and their groups. What was looked at before stays mapped, unless its name leads elsewhere by now.
#include <algorithm>

#include "error_about.hpp"
#include "platform/files.hpp"
#include "stats_reader_impl.hpp"
#include "topic_description.hpp"
#include "topic_name.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

std::filesystem::path meta_of(const Broker::Impl& broker, const std::string& name) {
    return meta_path(topics_path(broker.directory()) / name);
}

}  // namespace

bool StatsReader::Impl::is_in_place(const std::string& name, const Known& known) const {
    try {
        return platform::identity_of(meta_of(*broker_, name)) == known.meta;
    } catch (const Error&) {
        return false;  // opening it anew tells why
    }
}

/// Deleted topics are found out by whoever opens them; these were removed or replaced by hand.
void StatsReader::Impl::forget_lost_topics() {
    for (auto at = known_.begin(); at != known_.end();) {
        if (is_in_place(at->first, at->second)) {
            ++at;
        } else {
            groups_.forget(at->first);
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
        stats = TopicStats{name, error.what(), error.code(), {}, {}, {}};
        groups_.forget(name);
        known_.erase(name);
    }
    return stats;
}

void StatsReader::Impl::fill(TopicStats& stats, const StatsOptions& options) {
    if (!known_.contains(stats.name))
        groups_.forget(stats.name);
    AdminTopic& topic = groups_.open(stats.name);
    if (!known_.contains(stats.name)) {
        const auto meta = platform::identity_of(meta_of(*broker_, stats.name));
        known_.emplace(stats.name, Known{meta.value_or(platform::FileIdentity{}),
                                         std::vector<QuarantineCount>(topic.partitions())});
    }
    Known& known = known_.at(stats.name);
    known.quarantined.resize(topic.partitions());
    stats.description = describe_options(topic.files());
    for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition)
        stats.partitions.push_back(look_at_partition(topic, partition, known, options));
    if (options.groups)
        stats.groups = groups_.describe_all(topic, options.lag);
    if (topic.files().deleted())
        throw error_about(ErrorCode::topic_deleted, "topic '" + stats.name + "'", "was deleted");
}

}  // namespace ringmain
