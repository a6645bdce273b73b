// The metrics of dead letters.
#include "metrics_letters.hpp"

#include <algorithm>

namespace ringmain::daemon {

namespace {

constexpr MetricInfo kLetters{"ringmain_dead_letters", MetricKind::gauge, "topic",
                              "Records of a dead-letter topic that are neither replayed nor purged."};

bool keeps_letters(const TopicStats& topic) {
    return std::any_of(topic.groups.begin(), topic.groups.end(),
                       [](const GroupDescription& group) { return group.name == kDeadLettersGroup; });
}

}  // namespace

std::vector<MetricInfo> letter_metrics() { return {kLetters}; }

MetricFamilies collect_letters(DeadLetters& letters, const BrokerStats& stats) {
    MetricFamilies families;
    families.push_back(family_of(kLetters));
    for (const TopicStats& topic : stats.topics) {
        if (!keeps_letters(topic))
            continue;
        try {
            add_sample(families.back(), kLetters, {topic.name}, static_cast<double>(letters.count(topic.name)));
        } catch (const Error&) {
            continue;  // deleted meanwhile, or damaged, which other metrics say
        }
    }
    return families;
}

}  // namespace ringmain::daemon
