// Where cells are: every offset of a lap has one, and neither what is near in time nor what is near in memory is near in the
// other.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "partition_log/log_memory.hpp"
#include "support/catch.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;

namespace {

partition_log::LogMemory<platform::HostMemory> log_of(std::uint64_t records) {
    layout::PartitionGeometry geometry{};
    geometry.records = records;
    geometry.cell_bytes = 64;
    geometry.producer_slots = 1;
    return {nullptr, geometry, nullptr};
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return std::max(a, b) - std::min(a, b); }

}  // namespace

TEST_CASE("every offset of a lap has a cell of its own, in each lap the same") {
    for (std::uint64_t records = 2; records <= 65'536; records *= 2) {
        const auto log = log_of(records);
        std::vector<bool> used(records);
        for (std::uint64_t offset = 0; offset < records; ++offset) {
            const std::uint64_t index = log.cell_index(offset);
            REQUIRE(index < records);
            REQUIRE_FALSE(used[index]);
            used[index] = true;
            CHECK(log.cell_index(offset + 3 * records) == index);
            CHECK(log.cell_index(offset + (std::uint64_t{1} << 61)) == index);
        }
    }
}

TEST_CASE("cells of neighbouring offsets, and offsets of neighbouring cells, are far apart") {
    for (std::uint64_t records = 1'024; records <= 65'536; records *= 2) {
        const auto log = log_of(records);
        const std::uint64_t run = log.run_of(records);
        REQUIRE(run == std::min<std::uint64_t>(records / 16, 1'024));
        std::vector<std::uint64_t> offset_of(run);
        for (std::uint64_t offset = 0; offset < run; ++offset)
            offset_of[log.cell_index(offset)] = offset;
        for (std::uint64_t i = 0; i + 1 < run; ++i) {
            CAPTURE(records, i);
            CHECK(distance(log.cell_index(i), log.cell_index(i + 1)) >= run / 3);
            CHECK(distance(offset_of[i], offset_of[i + 1]) >= run / 3);
        }
    }
}

TEST_CASE("a run of offsets stays within a run of cells") {
    for (const std::uint64_t records : {1'024, 65'536}) {
        const auto log = log_of(records);
        for (std::uint64_t offset = 0; offset < records; ++offset)
            REQUIRE(log.cell_index(offset) / log.run_of(records) == offset / log.run_of(records));
    }
}
