// What changed between two looks at a broker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ringmain/stats.hpp"

namespace ringmain::cli {

struct TopicRates {
    const TopicStats* topic = nullptr;
    double records_per_s = 0;
    double bytes_per_s = 0;  ///< Of keys, values and headers; from the size of the newest records.
    std::uint64_t lag = 0;   ///< Of the group that is furthest behind.
    double lag_per_s = 0;    ///< How it changes.
};

struct PartitionRates {
    const TopicStats* topic = nullptr;
    const PartitionStats* partition = nullptr;
    double records_per_s = 0;
    double bytes_per_s = 0;
    std::uint64_t lag = 0;  ///< Of the group that is furthest behind in it.
    double gaps_per_s = 0;
};

struct GroupRates {
    const GroupDescription* group = nullptr;
    std::uint64_t lag = 0;
    double lag_per_s = 0;
    double commits_per_s = 0;
    double records_per_s = 0;  ///< By how much its committed offsets moved.
};

struct QueueRates {
    const QueueStats* queue = nullptr;
    std::uint64_t lag = 0;
    double lag_per_s = 0;
    double records_per_s = 0;  ///< By how much its committed offsets moved.
    double redelivered_per_s = 0;
};

/// Seconds between the looks; 0 if they are the same one.
[[nodiscard]] double seconds_between(const BrokerStats& before, const BrokerStats& now) noexcept;
/// Topics that are not the same in both, and looks that are the same, have rates of 0.
[[nodiscard]] std::vector<TopicRates> topic_rates(const BrokerStats& before, const BrokerStats& now);
[[nodiscard]] std::vector<PartitionRates> partition_rates(const BrokerStats& before, const BrokerStats& now);
[[nodiscard]] std::vector<GroupRates> group_rates(const BrokerStats& before, const BrokerStats& now);
[[nodiscard]] std::vector<QueueRates> queue_rates(const BrokerStats& before, const BrokerStats& now);

/// What stood still from one look to the other and should not have, in words.
[[nodiscard]] std::vector<std::string> stalls(const BrokerStats& before, const BrokerStats& now);

}  // namespace ringmain::cli
