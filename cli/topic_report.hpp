// What `topic create`, `topic describe` and `topic list` show.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringmain/broker.hpp"
#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

/// Options and the sizes that follow from them, one per line.
[[nodiscard]] std::string sizes_to_text(const TopicDescription& topic);

/// What is kept and how exactly, one or two lines.
[[nodiscard]] std::string retention_lines(const Retention& retention);

/// sizes_to_text, then a table of the partitions, then their producers and gates, and the topic's groups.
[[nodiscard]] std::string topic_to_text(const TopicDescription& topic, const std::vector<GroupDescription>& groups);

/// Everything in the description, as one JSON object on one line.
[[nodiscard]] std::string topic_to_json(const TopicDescription& topic, const std::vector<GroupDescription>& groups = {});

/// An array of {"name", "partitions", "when_full", "bytes"}; a topic that cannot be described has {"name", "error"}.
[[nodiscard]] std::string topics_to_json(const Broker& broker);

// Their parts.
[[nodiscard]] nlohmann::ordered_json options_to_json(const TopicOptions& options);
[[nodiscard]] nlohmann::ordered_json partition_to_json(const PartitionDescription& partition);

}  // namespace ringmain::cli
