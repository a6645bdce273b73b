// Deleting the records of a partition before an offset, on request.
#pragma once

#include <cstdint>

#include "client_table/client_table.hpp"
#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Throws Error as TopicFiles::map_partition; invalid_argument beyond the log end, corrupt if the offsets contradict each other.
RecordsDeleted delete_records(const TopicFiles& topic, const client_table::ClientTable& clients, std::uint32_t partition,
                              std::uint64_t offset);

}  // namespace ringmain
