// The memory of one partition, given to the structures: where things are, never how they came there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "group_table/group_gates.hpp"
#include "layout/partition.hpp"
#include "layout/readers.hpp"

namespace ringmain::partition_log {

/// Pointers into a partition's mapping and its checked geometry. A value; copies refer to the same memory.
template <class M>
struct LogMemory {
    using Control = layout::PartitionControl<M>;
    using Named = layout::NamedEntry<M>;
    using Marks = layout::PartitionMarks<M>;
    using Producer = layout::ProducerEntry<M>;
    using Extent = layout::ExtentWord<M>;
    using Cell = layout::CellHeader<M>;
    using Readers = layout::ReaderBlock<M>;

    Control* control = nullptr;
    Named* named = nullptr;
    Marks* marks = nullptr;
    Producer* producers = nullptr;
    Extent* extents = nullptr;
    std::byte* cells = nullptr;
    std::byte* payload = nullptr;
    Readers* readers = nullptr;

    std::uint64_t records = 0;       // N
    std::uint64_t first_offset = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t extent_bytes = 0;
    std::uint64_t slack = 0;         // tickets that may be taken after everybody found room
    std::uint64_t chunk = 0;         // how far log_start moves at a time
    std::uint64_t scatter_mask = 0;  // of an offset's bits that are scattered
    std::uint64_t scatter_factor = 1;
    std::uint32_t cell_shift = 0;
    std::uint32_t producer_slots = 0;
    std::uint32_t extent_count = 0;
    std::uint32_t batch_records_max = 0;
    std::uint32_t inline_bytes = 0;
    bool block = false;
    group_table::GroupGates<M> groups;  // asked only by movers of log_start

    LogMemory() = default;
    /// `base`: the mapped file (or a plain array of the same layout). Requires a geometry that has been checked.
    LogMemory(std::byte* base, const layout::PartitionGeometry& geometry, Readers* reader_block,
              const group_table::GroupGates<M>& group_gates = {}) noexcept
        : control(reinterpret_cast<Control*>(base + layout::kControlAt)),
          named(reinterpret_cast<Named*>(base + layout::kNamedAt)),
          marks(reinterpret_cast<Marks*>(base + layout::kMarksAt)),
          producers(reinterpret_cast<Producer*>(base + layout::kProducersAt)),
          extents(reinterpret_cast<Extent*>(base + layout::kProducersAt + geometry.producer_slots * sizeof(Producer))),
          cells(base + geometry.cells_at),
          payload(base + geometry.payload_at),
          readers(reader_block),
          records(geometry.records),
          first_offset(geometry.first_offset),
          payload_bytes(geometry.payload_bytes),
          extent_bytes(geometry.extent_bytes),
          slack(std::uint64_t{geometry.producer_slots} * geometry.batch_records_max),
          chunk(geometry.records >= 64 ? geometry.records / 64 : 1),
          scatter_mask(run_of(geometry.records) - 1),
          scatter_factor(factor_for(scatter_mask + 1)),
          cell_shift(static_cast<std::uint32_t>(std::countr_zero(geometry.cell_bytes))),
          producer_slots(geometry.producer_slots),
          extent_count(geometry.extents),
          batch_records_max(geometry.batch_records_max),
          inline_bytes(geometry.cell_bytes - static_cast<std::uint32_t>(layout::kCellHeaderBytes)),
          block(geometry.when_full != 0),
          groups(group_gates) {}

    /// Where an offset's cell is among the cells. Neighbours in time are not neighbours in memory, nor the other way round:
    /// producer and reader, and the prefetchers of their processors, do not pull each other's next lines away.
    [[nodiscard]] std::uint64_t cell_index(std::uint64_t offset) const noexcept {
        return (offset & (records - 1) & ~scatter_mask) | (offset * scatter_factor & scatter_mask);
    }
    [[nodiscard]] Cell& cell(std::uint64_t offset) const noexcept { return cell_at(cell_index(offset)); }
    [[nodiscard]] Cell& cell_at(std::uint64_t index) const noexcept {
        return *reinterpret_cast<Cell*>(cells + (index << cell_shift));
    }
    /// Two offsets share a cell.
    [[nodiscard]] bool same_cell(std::uint64_t a, std::uint64_t b) const noexcept { return ((a ^ b) & (records - 1)) == 0; }

    /// The offset is in the first lap, so that its cell has never been used.
    [[nodiscard]] bool in_first_lap(std::uint64_t offset) const noexcept { return offset - first_offset < records; }

    /// Largest body: one extent, or one cell when there are no extents.
    [[nodiscard]] std::uint64_t record_bytes_max() const noexcept { return extent_count == 0 ? inline_bytes : extent_bytes; }

    /// How many cells are scattered among themselves: few enough that not many pages are in use at a time. Small rings
    /// come in great numbers, and one page of each is what the processor can keep at hand.
    [[nodiscard]] static constexpr std::uint64_t run_of(std::uint64_t records) noexcept {
        return std::min(records, std::clamp<std::uint64_t>(records / 16, layout::kRecordsScatteredMin, layout::kRecordsScatteredMax));
    }

private:
    /// Odd, so that the product is a permutation, and near the golden section: multiples stay far apart.
    static constexpr std::uint64_t factor_for(std::uint64_t cells_scattered) noexcept { return cells_scattered * 5 / 8 | 1; }
};

}  // namespace ringmain::partition_log
