// What `describe` shows of a topic. Reads only; bounded; believes nothing it reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client_table/client_table.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/memory.hpp"
#include "ringmain/topic_options.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Throws Error as TopicFiles::map_partition.
[[nodiscard]] TopicDescription describe_topic(const TopicFiles& topic, const client_table::ClientTable& clients);

/// All but the partitions.
[[nodiscard]] TopicDescription describe_options(const TopicFiles& topic);
/// All but file_bytes and quarantined_cells.
[[nodiscard]] PartitionDescription describe_log(const partition_log::LogMemory<platform::HostMemory>& log, std::uint32_t partition,
                                                const client_table::ClientTable& clients);
/// Walks every cell, but only of a partition in which a ticket has ever been closed.
[[nodiscard]] std::uint64_t count_quarantined(const partition_log::LogMemory<platform::HostMemory>& log) noexcept;

/// The type in words, for messages.
[[nodiscard]] std::string describe_type(const ValueType& type);

/// Throws Error mismatch that names the first option that differs, with both values.
void check_same_options(std::string_view topic, const TopicOptions& found, const TopicOptions& wanted);

}  // namespace ringmain
