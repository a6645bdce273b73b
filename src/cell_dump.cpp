// The raw bytes of one cell and what they mean.
#include "cell_dump.hpp"

#include <string>

#include "partition_log/reader.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

namespace {

using partition_log::CellState;
using platform::HostMemory;
using Log = partition_log::LogMemory<HostMemory>;
using Reader = partition_log::Reader<HostMemory>;

std::string state_text(std::uint64_t word) {
    const std::string offset = std::to_string(partition_log::offset_of(word));
    switch (partition_log::state_of(word)) {
        case CellState::unused:
            return word == 0 ? "never used" : "damaged: no such word";
        case CellState::committed:
            return "committed, offset " + offset;
        case CellState::quarantined:
            return "quarantined by the closing of offset " + offset;
        case CellState::released:
            return "released without a record, offset " + offset;
    }
    return {};
}

std::string meaning(std::uint64_t word, std::uint64_t offset) {
    const std::string text = state_text(word);
    if (!partition_log::decided(word, offset))
        return text + "; the ticket of offset " + std::to_string(offset) + " is open";
    if (partition_log::offset_of(word) != offset)
        return text + "; offset " + std::to_string(offset) + " was overwritten";
    return text;
}

void check_in_log(const Reader& reader, const TopicFiles& topic, std::uint32_t partition, std::uint64_t offset) {
    const std::uint64_t start = reader.log_start();
    const std::uint64_t end = reader.log_end();
    if (offset >= start && offset < end)
        return;
    throw Error(ErrorCode::invalid_argument, topic.name(),
                "offset " + std::to_string(offset) + " of topic '" + topic.name() + "' partition " +
                    std::to_string(partition) + " is outside the log [" + std::to_string(start) + ", " +
                    std::to_string(end) + ")");
}

void add_body(const Reader& reader, CellDump& dump) {
    partition_log::RecordView view;
    if (reader.look(dump.offset, view) != partition_log::Found::record)
        return;
    dump.body.resize(view.length);
    reader.copy_body(view, dump.body.data());
    if (!reader.valid(dump.offset))
        dump.body.clear();
}

}  // namespace

CellDump dump_cell(const TopicFiles& topic, std::uint32_t partition, std::uint64_t offset) {
    const platform::Mapping file = topic.map_partition(partition, platform::Access::read_only);
    const Log log = topic.log_in(file, partition);
    const Reader reader(log);
    check_in_log(reader, topic, partition, offset);

    const auto& cell = log.cell(offset);
    const auto* const bytes = reinterpret_cast<const std::byte*>(&cell);
    CellDump dump;
    dump.offset = offset;
    dump.word = cell.word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
    dump.meaning = meaning(dump.word, offset);
    // relaxed: shown as they are
    dump.timestamp_ns = static_cast<std::int64_t>(cell.timestamp.load(std::memory_order_relaxed));
    const std::uint64_t shape = cell.shape.load(std::memory_order_relaxed);
    dump.length = static_cast<std::uint32_t>(shape);
    dump.key_length = static_cast<std::uint16_t>(shape >> 32);
    dump.flags = static_cast<std::uint16_t>(shape >> 48);
    dump.file_position = static_cast<std::uint64_t>(bytes - file.data());
    dump.cell.resize(topic.options().cell_bytes);
    HostMemory::copy_out(dump.cell.data(), bytes, dump.cell.size());
    add_body(reader, dump);
    topic.check_whole(file, partition);
    return dump;
}

}  // namespace ringmain
