// Topic descriptions as text.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "group_report.hpp"
#include "numbers.hpp"
#include "retention_options.hpp"
#include "rights_text.hpp"
#include "topic_report.hpp"

namespace ringmain::cli {

namespace {

template <class... Args>
void add(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

std::string value_type_to_text(const ValueType& type) {
    if (type.name.empty())
        return "bytes";
    return fmt::format("{} ({} bytes, alignment {})", type.name, type.size, type.alignment);
}

/// Of a damaged log the offsets are not known.
std::string known(const PartitionDescription& partition, std::uint64_t figure) {
    return partition.damage.empty() ? std::to_string(figure) : "damaged";
}

void add_partition_row(std::string& text, const PartitionDescription& partition) {
    add(text, "{:>9} {:>20} {:>20} {:>12} {:>14} {:>8} {:>12} {:>8} {:>9} {:>17} {}\n", partition.partition,
        known(partition, partition.log_start), known(partition, partition.log_end),
        known(partition, partition.log_end - partition.log_start), partition.file_bytes, partition.closed_tickets,
        partition.quarantined_cells, partition.reaped_producers, partition.producers.size(),
        fmt::format("{}/{}/{}", partition.extents_free, partition.extents_owned, partition.extents_sealed),
        partition.exclusive ? "exclusive" : "shared");
}

void add_clients(std::string& text, const PartitionDescription& partition) {
    for (const ClientDescription& producer : partition.producers) {
        add(text, "partition {} producer: {}\n", partition.partition, to_string(producer));
    }
    for (const GateDescription& gate : partition.gates) {
        const std::uint64_t behind = partition.log_end - std::min(partition.log_end, gate.offset);
        add(text, "partition {} gate '{}': offset {}, {} behind, {}\n", partition.partition, printable(gate.name),
            gate.offset, counted(behind, "record"), to_string(gate.holder));
    }
}

void add_damage(std::string& text, const PartitionDescription& partition) {
    if (!partition.damage.empty())
        add(text, "partition {} is damaged: {}\n", partition.partition, partition.damage);
}

}  // namespace

std::string sizes_to_text(const TopicDescription& topic) {
    const TopicOptions& options = topic.options;
    std::string text;
    add(text, "topic             {}\n", topic.name);
    add(text, "id                {}\n", to_string(topic.id));
    add(text, "partitions        {}\n", options.partitions);
    add(text, "records           {} cells per partition; at least {} records kept{}\n", options.records,
        topic.retained_records,
        options.payload_bytes == 0 ? "" : ", fewer if larger ones use up their payload memory first");
    add(text, "cell              {} bytes; up to {} bytes of key, value and headers travel inline\n",
        options.cell_bytes, topic.inline_bytes_max);
    add(text, "payload           {} per partition for larger records", format_bytes(options.payload_bytes));
    if (options.payload_bytes != 0)
        add(text, "; the last {} of them kept, each rounded up to 64 bytes", format_bytes(topic.retained_payload_bytes));
    text.push_back('\n');
    add(text, "largest record    {} of key, value and headers\n", format_bytes(topic.record_bytes_max));
    add(text, "largest batch     {} records\n", topic.batch_records_max);
    add(text, "producer slots    {} per partition\n", options.producer_slots);
    add(text, "consumer groups   up to {}, of up to {} members\n", options.groups, options.members);
    add(text, "when full         {}\n", to_string(options.when_full));
    text.append(retention_lines(options.retention));
    add(text, "value type        {}\n", value_type_to_text(options.value_type));
    text.append(access_line(options.access));
    if (options.first_offset != 0)
        add(text, "first offset      {}\n", options.first_offset);
    add(text, "memory            {}", format_bytes(topic.bytes));
    if (!topic.partitions.empty())
        add(text, ", {} per partition", format_bytes(topic.partitions.front().file_bytes));
    text.push_back('\n');
    return text;
}

std::string retention_lines(const Retention& retention) {
    std::string text;
    add(text, "retention         {}\n", retention_to_text(retention));
    const std::string lateness = lateness_to_text(retention);
    if (!lateness.empty())
        add(text, "                  {}\n", lateness);
    return text;
}

std::string topic_to_text(const TopicDescription& topic, const std::vector<GroupDescription>& groups) {
    std::string text = sizes_to_text(topic);
    add(text, "\n{:>9} {:>20} {:>20} {:>12} {:>14} {:>8} {:>12} {:>8} {:>9} {:>17} {}\n", "PARTITION", "START", "END",
        "RECORDS", "FILE-BYTES", "CLOSED", "QUARANTINED", "REAPED", "PRODUCERS", "FREE/OWNED/SEALED", "MODE");
    for (const PartitionDescription& partition : topic.partitions)
        add_partition_row(text, partition);
    for (const PartitionDescription& partition : topic.partitions)
        add_damage(text, partition);
    for (const PartitionDescription& partition : topic.partitions)
        add_clients(text, partition);
    for (const GroupDescription& group : groups)
        text.append(group_totals_to_text(group));
    return text;
}

}  // namespace ringmain::cli
