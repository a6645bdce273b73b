// The partition of scenarios, and what must always hold of its log.
#include "explore/log_stage.hpp"

namespace ringmain::explore {

using partition_log::CellState;
using partition_log::Found;

Value::Value(std::uint64_t id, unsigned words) noexcept : count_(words) {
    for (unsigned i = 0; i < words; ++i)
        words_[i] = id << 8 | (i + 1);
}

partition_log::RecordParts Value::parts() const noexcept {
    partition_log::RecordParts parts;
    parts.value = reinterpret_cast<const std::byte*>(words_.data());
    parts.value_bytes = count_ * 8;
    parts.flags = layout::kNullKey;
    parts.timestamp_ns = static_cast<std::int64_t>(words_[0] >> 8);
    return parts;
}

std::uint64_t Value::id_of(const std::uint64_t* words, unsigned count) noexcept {
    const std::uint64_t id = words[0] >> 8;
    for (unsigned i = 0; i < count; ++i) {
        if (words[i] != (id << 8 | (i + 1)))
            return 0;
    }
    return id;
}

void LogOracle::begin(std::uint64_t first, std::uint64_t published) noexcept {
    *this = {};
    first_ = first;
    for (std::uint64_t offset = 0; offset < published; ++offset) {
        const std::uint64_t id = kOldId - offset;
        started_[id] = answered_[id] = true;
        at_[offset] = id;
        offset_of_[id] = offset + 1;
    }
}

void LogOracle::is_at(std::uint64_t id, std::uint64_t place) {
    require(place < kOffsets, "a record at an offset that cannot be");
    require(at_[place] == 0 || at_[place] == id, "two records at one offset");
    require(offset_of_[id] == 0 || offset_of_[id] == place + 1, "one record at two offsets");
    require(!skipped_[place], "a record where a reader was told that there is none");
    at_[place] = id;
    offset_of_[id] = place + 1;
}

void LogOracle::published(std::uint64_t id, std::uint64_t offset) {
    require(!answered_[id], "one publishing was answered twice");
    is_at(id, offset - first_);
    answered_[id] = true;
}

void LogOracle::accepted(std::uint64_t id, std::uint64_t offset) {
    require(id != 0 && id < kIds && started_[id], "a torn record was accepted");
    is_at(id, offset - first_);
}

void LogOracle::skipped(std::uint64_t offset) {
    const std::uint64_t place = offset - first_;
    require(place < kOffsets, "a reader was told of an offset that cannot be");
    require(at_[place] == 0, "a reader was told that there is none where a record is");
    skipped_[place] = true;
}

test::PlainShape LogStage::plain(const LogShape& shape) noexcept {
    return {.records = 8,
            .cell_bytes = 64,
            .producer_slots = shape.producer_slots,
            .extents = shape.extents,
            .extent_bytes = shape.extent_bytes,
            .batch_records_max = shape.batch_records_max,
            .first_offset = shape.first_offset,
            .block = shape.block};
}

LogStage::LogStage(const LogShape& shape, const Bounds& bounds, unsigned threads)
    : Scenario(bounds, threads),
      shape_(shape),
      bytes_(test::plain_bytes(plain(shape))),
      base_(static_cast<std::byte*>(::operator new(bytes_, kAlignment))) {
    log_ = test::plain_view<M>(base_.get(), plain(shape));
    log_.records = shape.records;
    log_.chunk = shape.chunk;
    log_.scatter_mask = shape.records - 1;
    const auto cells_at = static_cast<std::size_t>(log_.cells - base_.get());
    const std::size_t cell_bytes = std::size_t{1} << log_.cell_shift;
    share({base_.get(), bytes_, cells_at, shape.records * cell_bytes, cells_at + 8 * cell_bytes});
    keep_calm(&log_.control->closings, 5 * 8);
    if (!shape.names)
        keep_calm(&log_.control->names, 8);
    keep_calm(&log_.readers->gates[shape.gates], (layout::kGatesMax - shape.gates) * sizeof log_.readers->gates[0]);
}

void LogStage::set_up() {
    test::format_plain(log_);
    for (unsigned slot = 0; slot < shape_.producer_slots; ++slot) {
        log_.producers[slot].generation.store(kGeneration, std::memory_order_relaxed);
        log_.producers[slot].owner.store(owner_of(slot), std::memory_order_relaxed);
    }
    Shared publisher = shared_publisher(0);
    for (std::uint64_t i = 0; i < shape_.published; ++i) {
        const Value value(LogOracle::kOldId - i, 2);
        (void)publisher.publish(value.parts());
    }
}

void LogStage::begin() {
    oracle_.begin(shape_.first_offset, shape_.published);
    gated_from_ = kNoGate;
    for (unsigned thread = 0; thread < kThreadsMax; ++thread)
        tenures_[thread] = {thread, kGeneration};
}

void LogStage::release_cells() const {
    for (std::uint64_t index = 0; index < log_.records; ++index) {
        const std::uint64_t before = newest(&log_.cell_at(index).word);
        bool waiting = false;
        if (recovery::release_cell(log_, index, IsDead{}, waiting))
            require(newest(&log_.cell_at(index).word) != before ||
                        partition_log::state_of(before) != CellState::quarantined,
                    "a cell is told to be released that is not");
    }
}

// Whatever was answered is where it was answered, until log_start has passed it.
void LogStage::finish() {
    const std::uint64_t start = log_.control->log_start.load(std::memory_order_relaxed);
    const std::uint64_t end = log_.control->log_end.load(std::memory_order_relaxed);
    require(start <= end, "log_start is beyond log_end");
    for (std::uint64_t i = 0; i < LogOracle::kOffsets; ++i) {
        const std::uint64_t offset = shape_.first_offset + i;
        if (oracle_.id_at(offset) == 0 || offset < start)
            continue;
        const test::ReadBack back = test::read_back(log_, offset);
        require(back.found == Found::record, "a record was lost");
        const auto* const words = reinterpret_cast<const std::uint64_t*>(back.value.data());
        require(Value::id_of(words, static_cast<unsigned>(back.value.size() / 8)) == oracle_.id_at(offset),
                "a record was overwritten");
    }
}

void LogStage::check_goes_on(unsigned slot, unsigned words) {
    const std::uint64_t start = log_.control->log_start.load(std::memory_order_relaxed);
    require(read_from(start, Open::close) == log_.control->log_end.load(std::memory_order_relaxed),
            "a reader does not come to the end");
    for (unsigned thread = 0; thread < threads(); ++thread) {
        if (fell(thread) && !proven_dead(thread))
            return;  // one that is stopped may keep what it has
    }
    release_cells();
    Shared publisher = shared_publisher(slot);
    require(publish(publisher, 30, words) == Sent::published, "no cell came back after a death");
    LogStage::finish();
}

std::uint64_t LogStage::read_from(std::uint64_t from, Open open) {
    const partition_log::Reader<M> reader(log_);
    std::uint64_t offset = from;
    for (;;) {
        partition_log::RecordView view;
        const Found found = reader.look(offset, view);
        require(found != Found::corrupt, "a reader finds bytes that contradict the layout");
        if (found == Found::record && accept(reader, offset, view)) {
            ++offset;
        } else if (found == Found::skip) {
            oracle_.skipped(offset++);
        } else if (found == Found::nothing) {
            if (reader.log_end() <= offset || open == Open::wait)
                return offset;
            (void)partition_log::close_ticket(log_, offset);
        } else {
            const std::uint64_t start = reader.log_start();
            require(start > offset, "a reader is lapped, and log_start does not show it");
            require(offset < gated_from_, "a gated record is gone");
            offset = start;
        }
    }
}

bool LogStage::accept(const partition_log::Reader<M>& reader, std::uint64_t offset, partition_log::RecordView view) {
    std::array<std::uint64_t, Value::kWordsMax> words{};
    if (view.length <= sizeof words)
        reader.copy_body(view, reinterpret_cast<std::byte*>(words.data()));
    if (!reader.valid(offset))
        return false;
    require(view.length != 0 && view.length <= sizeof words && view.length % 8 == 0, "a torn length was accepted");
    const std::uint64_t id = Value::id_of(words.data(), view.length / 8);
    require(static_cast<std::uint64_t>(view.timestamp_ns) == id, "a torn timestamp was accepted");
    oracle_.accepted(id, offset);
    return true;
}

void LogStage::stores(unsigned thread, const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto in_cells = static_cast<std::size_t>(at - log_.cells);
    if (in_cells < log_.records << log_.cell_shift && in_cells % (1U << log_.cell_shift) != 0)
        check_cell_write(thread, in_cells >> log_.cell_shift);
    const auto in_payload = static_cast<std::size_t>(at - log_.payload);
    if (log_.extent_count != 0 && in_payload < log_.payload_bytes)
        check_extent_write(thread, in_payload / log_.extent_bytes);
}

// The bytes of a cell are written by who holds its next ticket, or late, by who held one that was closed, while it is
// quarantined.
void LogStage::check_cell_write(unsigned thread, std::uint64_t index) const {
    const std::uint64_t word = newest(&log_.cell_at(index).word);
    const std::uint64_t ticket = newest(&log_.producers[tenures_[thread].slot].ticket);
    std::uint64_t offset = newest(&log_.control->log_end);  // of an exclusive producer
    if (ticket != partition_log::kIdle) {
        const std::uint64_t first = ticket >> 2;
        offset = first + ((index - first) & (log_.records - 1));
    }
    const Tenure& tenure = tenures_[thread];
    // an exclusive producer is alone: whoever could be late is gone
    const bool alone = newest(&log_.control->lease) == recovery::lease_word(tenure.slot, tenure.generation);
    if (partition_log::state_of(word) == CellState::quarantined) {
        require(alone || partition_log::offset_of(word) >= offset,
                "a cell is written that another's late writer may still write");
    } else if (offset - shape_.first_offset < log_.records) {
        require(word == 0, "a cell is written late that a reader may believe");
    } else {
        require(partition_log::offset_of(word) == offset - log_.records && word != 0,
                "a cell is written late that a reader may believe");
    }
    if (offset - shape_.first_offset >= log_.records)
        require(newest(&log_.control->log_start) > offset - log_.records,
                "a cell is overwritten that log_start has not passed");
}

void LogStage::check_extent_write(unsigned thread, std::uint64_t extent) const {
    require(newest(&log_.extents[extent].word) ==
                partition_log::owned_extent(tenures_[thread].slot, tenures_[thread].generation),
            "an extent is written that belongs to another");
}

std::string LogStage::name_of_location(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto named = [&](const char* name, const void* base, std::size_t each, std::size_t count) -> std::string {
        const auto offset = static_cast<std::size_t>(at - static_cast<const std::byte*>(base));
        if (offset >= each * count)
            return {};
        return std::string(name) + '[' + std::to_string(offset / each) + "]+" + std::to_string(offset % each);
    };
    const layout::PartitionControl<M>& control = *log_.control;
    if (address == &control.log_end)
        return "log_end";
    if (address == &control.log_start)
        return "log_start";
    if (address == &control.gate_floor)
        return "gate_floor";
    if (address == &control.lease)
        return "lease";
    for (const std::string& name :
         {named("cell", log_.cells, std::size_t{1} << log_.cell_shift, 8),
          named("producer", log_.producers, sizeof *log_.producers, log_.producer_slots),
          named("extent_word", log_.extents, sizeof *log_.extents, log_.extent_count),
          named("extent", log_.payload, log_.extent_bytes == 0 ? 1 : log_.extent_bytes, log_.extent_count),
          named("name", log_.named, sizeof *log_.named, layout::kProducerNamesMax),
          named("gate", log_.readers->gates, sizeof log_.readers->gates[0], layout::kGatesMax)}) {
        if (!name.empty())
            return name;
    }
    return Scenario::name_of_location(address);
}

}  // namespace ringmain::explore
