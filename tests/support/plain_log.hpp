// One partition on plain memory: an aligned array and a geometry, without files. For tests of the structures alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "layout/partition.hpp"
#include "layout/readers.hpp"
#include "partition_log/cell_word.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/reader.hpp"
#include "partition_log/record_parts.hpp"

namespace ringmain::test {

/// What differs between the partitions of tests. Everything is small, so that a lap is short.
struct PlainShape {
    std::uint64_t records = 16;
    std::uint32_t cell_bytes = 64;
    std::uint32_t producer_slots = 4;
    std::uint32_t extents = 8;
    std::uint64_t extent_bytes = 1024;
    std::uint32_t batch_records_max = 1;
    std::uint64_t first_offset = 0;
    bool block = false;
};

[[nodiscard]] constexpr std::uint64_t page_up(std::uint64_t bytes) noexcept {
    return (bytes + layout::kPageBytes - 1) & ~std::uint64_t{layout::kPageBytes - 1};
}

[[nodiscard]] inline layout::PartitionGeometry plain_geometry(const PlainShape& shape) noexcept {
    using Host = platform::HostMemory;
    layout::PartitionGeometry geometry{};
    geometry.records = shape.records;
    geometry.payload_bytes = shape.extents * shape.extent_bytes;
    geometry.extent_bytes = shape.extents == 0 ? 0 : shape.extent_bytes;
    geometry.first_offset = shape.first_offset;
    geometry.cell_bytes = shape.cell_bytes;
    geometry.producer_slots = shape.producer_slots;
    geometry.extents = shape.extents;
    geometry.batch_records_max = shape.batch_records_max;
    geometry.when_full = shape.block ? 1 : 0;
    geometry.cells_at = page_up(layout::kProducersAt + shape.producer_slots * sizeof(layout::ProducerEntry<Host>) +
                                shape.extents * sizeof(layout::ExtentWord<Host>));
    geometry.payload_at = page_up(geometry.cells_at + shape.records * shape.cell_bytes);
    return geometry;
}

/// The log's bytes, and behind them the readers' block.
[[nodiscard]] inline std::size_t plain_log_bytes(const layout::PartitionGeometry& geometry) noexcept {
    return page_up(geometry.payload_at + geometry.payload_bytes);
}
[[nodiscard]] inline std::size_t plain_bytes(const PlainShape& shape) noexcept {
    return plain_log_bytes(plain_geometry(shape)) + page_up(layout::kReaderBlockBytes);
}

/// Points into `base`, which has plain_bytes(shape) bytes.
template <class M>
[[nodiscard]] partition_log::LogMemory<M> plain_view(std::byte* base, const PlainShape& shape) noexcept {
    const layout::PartitionGeometry geometry = plain_geometry(shape);
    auto* readers = reinterpret_cast<layout::ReaderBlock<M>*>(base + plain_log_bytes(geometry));
    return {base, geometry, readers};
}

/// Makes an empty partition of zeroed memory.
template <class M>
void format_plain(const partition_log::LogMemory<M>& log) noexcept {
    // relaxed: nobody else looks at the memory yet
    log.control->log_end.store(log.first_offset, std::memory_order_relaxed);
    log.control->log_start.store(log.first_offset, std::memory_order_relaxed);
    log.control->gate_floor.store(log.first_offset, std::memory_order_relaxed);
}

/// A partition on the heap. `log` is what the structures take; everything below looks at its bytes or changes them by
/// hand.
template <class M = platform::HostMemory>
class PlainLog {
public:
    explicit PlainLog(const PlainShape& shape = {})
        : bytes_(plain_bytes(shape)), base_(static_cast<std::byte*>(::operator new(bytes_, kAlignment))) {
        std::memset(base_.get(), 0, bytes_);
        log = plain_view<M>(base_.get(), shape);
        format_plain(log);
    }

    [[nodiscard]] std::byte* base() const noexcept { return base_.get(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    [[nodiscard]] std::uint64_t end() const noexcept { return log.control->log_end.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t start() const noexcept {
        return log.control->log_start.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t word(std::uint64_t offset) const noexcept {
        return log.cell(offset).word.load(std::memory_order_acquire);
    }
    void set_word(std::uint64_t offset, std::uint64_t word) const noexcept {
        log.cell(offset).word.store(word, std::memory_order_release);
    }
    [[nodiscard]] std::uint64_t ticket(std::uint32_t slot) const noexcept {
        return log.producers[slot].ticket.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t extent(std::uint32_t index) const noexcept {
        return log.extents[index].word.load(std::memory_order_acquire);
    }

    /// Makes `slot` belong to `owner` without the attachment's code.
    void occupy(std::uint32_t slot, std::uint64_t owner, std::uint64_t generation = 1) const noexcept {
        log.producers[slot].generation.store(generation, std::memory_order_release);
        log.producers[slot].owner.store(owner, std::memory_order_release);
    }

    [[nodiscard]] std::uint64_t quarantined_cells() const noexcept {
        std::uint64_t count = 0;
        for (std::uint64_t i = 0; i < log.records; ++i) {
            const std::uint64_t word = log.cell_at(i).word.load(std::memory_order_acquire);
            count += partition_log::state_of(word) == partition_log::CellState::quarantined ? 1 : 0;
        }
        return count;
    }

    partition_log::LogMemory<M> log;

private:
    static constexpr std::align_val_t kAlignment{layout::kPageBytes};
    struct Free {
        void operator()(std::byte* base) const noexcept { ::operator delete(base, kAlignment); }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> base_;
};

/// What a reader finds at an offset; the value only if the record was there from the look to the copy.
struct ReadBack {
    partition_log::Found found = partition_log::Found::nothing;
    std::string value;
    friend bool operator==(const ReadBack&, const ReadBack&) = default;
};

template <class M>
[[nodiscard]] ReadBack read_back(const partition_log::LogMemory<M>& log, std::uint64_t offset) {
    const partition_log::Reader<M> reader(log);
    partition_log::RecordView view;
    ReadBack back{reader.look(offset, view), {}};
    if (back.found != partition_log::Found::record)
        return back;
    std::string body(view.length, '\0');
    reader.copy_body(view, reinterpret_cast<std::byte*>(body.data()));
    if (!reader.valid(offset))
        return {partition_log::Found::lapped, {}};
    back.value = body.substr(0, view.value_bytes);
    return back;
}

/// A record whose value is the given text, which must outlive the parts.
[[nodiscard]] inline partition_log::RecordParts parts_of(std::string_view value,
                                                         std::int64_t timestamp_ns = 1) noexcept {
    partition_log::RecordParts parts;
    parts.value = reinterpret_cast<const std::byte*>(value.data());
    parts.value_bytes = static_cast<std::uint32_t>(value.size());
    parts.flags = layout::kNullKey;
    parts.timestamp_ns = timestamp_ns;
    return parts;
}

}  // namespace ringmain::test
