// Where everything lies in a partition's file, as the topic's options give it.
#include "topic_geometry.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "platform/memory.hpp"
#include "ringmain/error.hpp"
#include "topic_access.hpp"
#include "topic_retention.hpp"

namespace ringmain {

namespace {

using Producer = layout::ProducerEntry<platform::HostMemory>;
using ExtentWord = layout::ExtentWord<platform::HostMemory>;

constexpr std::uint32_t kExtentsPerProducer = 2;  // one to write, one sealed that readers still look at
constexpr std::uint64_t kBatchRecordsMax = 256;
constexpr std::uint64_t kSlackShare = 4;  // tickets in flight never take more than a quarter of the ring

[[noreturn]] void refuse(std::string_view topic, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, std::string(topic), "topic '" + std::string(topic) + "': " + what);
}

void check_range(std::string_view topic, const char* option, std::uint64_t value, std::uint64_t min,
                 std::uint64_t max) {
    if (value >= min && value <= max)
        return;
    refuse(topic, std::string(option) + " " + std::to_string(value) + " is outside " + std::to_string(min) + " to " +
                      std::to_string(max));
}

// Requires value > 0, and the powers of two beside it to fit.
void check_power_of_two(std::string_view topic, const char* option, std::uint64_t value) {
    if (std::has_single_bit(value))
        return;
    const std::uint64_t below = std::bit_floor(value);
    refuse(topic, std::string(option) + " " + std::to_string(value) + " is not a power of two; the nearest are " +
                      std::to_string(below) + " and " + std::to_string(below * 2));
}

void check_ring(std::string_view topic, const TopicOptions& options) {
    check_range(topic, "producer_slots", options.producer_slots, 1, kProducerSlotsMax);
    check_power_of_two(topic, "producer_slots", options.producer_slots);
    check_range(topic, "records", options.records, kRecordsMin, kRecordsMax);
    const std::uint64_t records_min = kSlackShare * options.producer_slots;
    if (options.records < records_min) {
        refuse(topic, "records " + std::to_string(options.records) + " is less than " + std::to_string(kSlackShare) +
                          " x producer_slots " + std::to_string(options.producer_slots) + ", " +
                          std::to_string(records_min));
    }
    check_power_of_two(topic, "records", options.records);
    if (options.cell_bytes != 64 && options.cell_bytes != 128 && options.cell_bytes != 256) {
        refuse(topic, "cell_bytes " + std::to_string(options.cell_bytes) + " is not 64, 128 or 256");
    }
}

void check_payload(std::string_view topic, const TopicOptions& options) {
    if (options.payload_bytes == 0)
        return;
    const std::uint64_t extents = std::uint64_t{kExtentsPerProducer} * options.producer_slots;
    const std::uint64_t min = std::max(kPayloadMin, kExtentBytesMin * extents);
    const std::uint64_t max = std::min(kPayloadMax, kExtentBytesMax * extents);
    if (options.payload_bytes < min || options.payload_bytes > max) {
        refuse(topic, "payload_bytes " + std::to_string(options.payload_bytes) + " is neither 0 nor " +
                          std::to_string(min) + " to " + std::to_string(max) + ", as producer_slots " +
                          std::to_string(options.producer_slots) + " needs");
    }
    check_power_of_two(topic, "payload_bytes", options.payload_bytes);  // both of the nearest are in the range
}

void check_value_type_options(std::string_view topic, const ValueType& type) {
    check_range(topic, "length of the value type's name", type.name.size(), 0, kTypeNameMax);
    if (type.name.empty() && (type.size != 0 || type.alignment != 0)) {
        refuse(topic, "value type has size " + std::to_string(type.size) + " and alignment " +
                          std::to_string(type.alignment) + " but no name");
    }
    if (type.name.find('\0') != std::string::npos)
        refuse(topic, "value type's name holds a zero byte");
}

constexpr std::uint64_t page_up(std::uint64_t bytes) noexcept {
    return (bytes + layout::kPageBytes - 1) & ~std::uint64_t{layout::kPageBytes - 1};
}

static_assert(kGroupsMax == layout::kGroupsHardMax && kMembersMax == layout::kMembersHardMax);

// No sum or product below can wrap: the largest legal file is far below 2^63.
static_assert(kRecordsMax * layout::kCellBytesMax + kPayloadMax + kProducerSlotsMax * 1024 < std::uint64_t{1} << 40);

}  // namespace

void check_topic_options(std::string_view topic, const TopicOptions& options) {
    check_range(topic, "partitions", options.partitions, 1, kPartitionsMax);
    check_ring(topic, options);
    check_payload(topic, options);
    check_range(topic, "groups", options.groups, 1, kGroupsMax);
    check_range(topic, "members", options.members, 1, kMembersMax);
    check_range(topic, "first_offset", options.first_offset, 0, kFirstOffsetMax);
    check_value_type_options(topic, options.value_type);
    check_retention(topic, options.retention);
    if (options.when_full != WhenFull::overwrite && options.when_full != WhenFull::block) {
        refuse(topic, "when_full " + std::to_string(static_cast<unsigned>(options.when_full)) + " is not a policy");
    }
    check_topic_access(topic, options.access);
}

layout::PartitionGeometry geometry_for(const TopicOptions& options) {
    check_topic_options("", options);
    const std::uint32_t extents = options.payload_bytes == 0 ? 0 : kExtentsPerProducer * options.producer_slots;
    layout::PartitionGeometry geometry{};
    geometry.records = options.records;
    geometry.payload_bytes = options.payload_bytes;
    geometry.extent_bytes = extents == 0 ? 0 : options.payload_bytes / extents;
    geometry.first_offset = options.first_offset;
    geometry.cell_bytes = options.cell_bytes;
    geometry.producer_slots = options.producer_slots;
    geometry.extents = extents;
    geometry.batch_records_max = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(options.records / (kSlackShare * options.producer_slots), 1, kBatchRecordsMax));
    geometry.when_full = static_cast<std::uint32_t>(options.when_full);

    const std::uint64_t words_at = layout::kProducersAt + options.producer_slots * sizeof(Producer);
    geometry.cells_at = page_up(words_at + extents * sizeof(ExtentWord));
    geometry.payload_at = page_up(geometry.cells_at + options.records * options.cell_bytes);
    return geometry;
}

layout::GroupsGeometry groups_geometry_for(const TopicOptions& options) noexcept {
    return {options.partitions, options.groups, options.members, 0};
}

std::uint64_t partition_file_bytes(const layout::PartitionGeometry& geometry) noexcept {
    return page_up(geometry.payload_at + geometry.payload_bytes);
}

std::uint64_t record_bytes_max(const layout::PartitionGeometry& geometry) noexcept {
    return geometry.extents == 0 ? inline_bytes_max(geometry) : geometry.extent_bytes;
}

std::uint64_t inline_bytes_max(const layout::PartitionGeometry& geometry) noexcept {
    return geometry.cell_bytes - layout::kCellHeaderBytes;
}

std::uint64_t retained_records(const layout::PartitionGeometry& geometry) noexcept {
    const bool block = geometry.when_full == static_cast<std::uint32_t>(WhenFull::block);
    if (block)
        return geometry.records - std::uint64_t{geometry.producer_slots} * geometry.batch_records_max;
    return geometry.records - std::max<std::uint64_t>(1, geometry.records / 64);
}

std::uint64_t retained_payload_bytes(const layout::PartitionGeometry& geometry) noexcept {
    // each producer owns one extent, which may be empty as yet; the others are sealed and still hold records
    return geometry.extents == 0 ? 0 : (geometry.extents - geometry.producer_slots) * geometry.extent_bytes;
}

}  // namespace ringmain
