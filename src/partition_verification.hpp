// Looking for contradictions in one partition's file and its readers' block.
#pragma once

#include <cstdint>

#include "platform/mapping.hpp"
#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Adds to the report. `file`: as TopicFiles::map_partition gives it. Bounded by the size of the partition.
void verify_partition(const TopicFiles& topic, std::uint32_t partition, const platform::Mapping& file,
                      VerifyReport& report);

}  // namespace ringmain
