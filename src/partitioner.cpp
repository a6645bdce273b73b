// Kafka's default partitioning: murmur2 as in org.apache.kafka.common.utils.Utils.
#include "ringmain/partitioner.hpp"

#include <cstddef>

namespace ringmain {

namespace {

constexpr std::uint32_t kSeed = 0x9747b28c;
constexpr std::uint32_t kMultiplier = 0x5bd1e995;
constexpr std::uint32_t kShift = 24;

// Little-endian whatever the machine, and byte by byte: keys have any alignment.
std::uint32_t four_bytes(const std::byte* at) noexcept {
    return std::to_integer<std::uint32_t>(at[0]) | std::to_integer<std::uint32_t>(at[1]) << 8 |
           std::to_integer<std::uint32_t>(at[2]) << 16 | std::to_integer<std::uint32_t>(at[3]) << 24;
}

}  // namespace

std::uint32_t murmur2(Bytes bytes) noexcept {
    std::uint32_t hash = kSeed ^ static_cast<std::uint32_t>(bytes.size());
    while (bytes.size() >= 4) {
        std::uint32_t k = four_bytes(bytes.data()) * kMultiplier;
        k = (k ^ k >> kShift) * kMultiplier;
        hash = hash * kMultiplier ^ k;
        bytes = bytes.subspan(4);
    }
    if (!bytes.empty()) {
        for (std::size_t i = bytes.size(); i-- > 0;)
            hash ^= std::to_integer<std::uint32_t>(bytes[i]) << 8 * i;
        hash *= kMultiplier;
    }
    hash = (hash ^ hash >> 13) * kMultiplier;
    return hash ^ hash >> 15;
}

std::uint32_t partition_for_key(Bytes key, std::uint32_t partitions) noexcept {
    // Kafka's toPositive: the sign bit is masked, neither abs() nor an unsigned remainder of the whole hash.
    return (murmur2(key) & 0x7fffffffU) % partitions;
}

}  // namespace ringmain
