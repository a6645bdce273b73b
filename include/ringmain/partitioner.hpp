// Kafka's default partitioning, byte for byte (murmur2, org.apache.kafka.common.utils.Utils).
#pragma once

#include <cstdint>

#include "ringmain/export.hpp"
#include "ringmain/record.hpp"

namespace ringmain {

/// murmur2 with Kafka's seed over unsigned bytes; any alignment.
RINGMAIN_API std::uint32_t murmur2(Bytes bytes) noexcept;

/// (murmur2(key) & 0x7fffffff) mod partitions. Requires partitions > 0. An empty key is a key.
RINGMAIN_API std::uint32_t partition_for_key(Bytes key, std::uint32_t partitions) noexcept;

}  // namespace ringmain
