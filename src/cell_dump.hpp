// The raw bytes of one cell and what they mean.
#pragma once

#include <cstdint>

#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Throws Error: invalid_argument (offset outside the log), otherwise as TopicFiles::map_partition.
[[nodiscard]] CellDump dump_cell(const TopicFiles& topic, std::uint32_t partition, std::uint64_t offset);

}  // namespace ringmain
