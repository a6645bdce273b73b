// Where everything lies in a partition's file, as the topic's options give it.
#pragma once

#include <cstdint>
#include <string_view>

#include "layout/groups.hpp"
#include "layout/partition.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

inline constexpr std::uint64_t kExtentBytesMin = 4096;
inline constexpr std::uint64_t kExtentBytesMax = std::uint64_t{1} << 30;  // a record's length is 32 bits

/// The geometry that options give, for partition 0. Throws Error invalid_argument (option, value, range) if they are
/// not legal.
[[nodiscard]] layout::PartitionGeometry geometry_for(const TopicOptions& options);
/// The geometry of the topic's groups. Requires checked options.
[[nodiscard]] layout::GroupsGeometry groups_geometry_for(const TopicOptions& options) noexcept;
[[nodiscard]] std::uint64_t partition_file_bytes(const layout::PartitionGeometry& geometry) noexcept;

/// Largest key + value + encoded headers, and up to where a record travels in its cell.
[[nodiscard]] std::uint64_t record_bytes_max(const layout::PartitionGeometry& geometry) noexcept;
[[nodiscard]] std::uint64_t inline_bytes_max(const layout::PartitionGeometry& geometry) noexcept;
/// What a partition keeps at least by its cells and by its extents; with the block policy, what fits before publishing
/// waits. Exactly: TopicDescription.
[[nodiscard]] std::uint64_t retained_records(const layout::PartitionGeometry& geometry) noexcept;
[[nodiscard]] std::uint64_t retained_payload_bytes(const layout::PartitionGeometry& geometry) noexcept;

}  // namespace ringmain
