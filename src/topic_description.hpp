// What `describe` shows of a topic. Reads only; bounded; believes nothing it reads.
#pragma once

#include <string>
#include <string_view>

#include "client_table/client_table.hpp"
#include "ringmain/topic_options.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Throws Error as TopicFiles::map_partition.
[[nodiscard]] TopicDescription describe_topic(const TopicFiles& topic, const client_table::ClientTable& clients);

/// The type in words, for messages.
[[nodiscard]] std::string describe_type(const ValueType& type);

/// Throws Error mismatch that names the first option that differs, with both values.
void check_same_options(std::string_view topic, const TopicOptions& found, const TopicOptions& wanted);

}  // namespace ringmain
