// What `describe` shows of a topic.
#include "topic_description.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "damage.hpp"
#include "gate_table/gate_table.hpp"
#include "partition_log/cell_word.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/rights.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using platform::HostMemory;
using Log = partition_log::LogMemory<HostMemory>;

ClientDescription describe_owner(std::uint64_t word, const client_table::ClientTable& clients) noexcept {
    return clients.describe(layout::ClientId::from_word(layout::client_of(word)));
}

// All counters are relaxed: they are for show.
void count_extents(const Log& log, PartitionDescription& partition) noexcept {
    for (std::uint32_t i = 0; i < log.extent_count; ++i) {
        const std::uint64_t word = log.extents[i].word.load(std::memory_order_relaxed);
        switch (partition_log::extent_state(word)) {
            case partition_log::ExtentState::free:
                ++partition.extents_free;
                break;
            case partition_log::ExtentState::owned:
                ++partition.extents_owned;
                break;
            case partition_log::ExtentState::sealed:
                ++partition.extents_sealed;
                break;
        }
    }
}

void add_producers(const Log& log, const client_table::ClientTable& clients, PartitionDescription& partition) {
    for (std::uint32_t slot = 0; slot < log.producer_slots; ++slot) {
        const std::uint64_t owner = log.producers[slot].owner.load(std::memory_order_acquire);  // acquire ENTRY
        if (owner != 0)
            partition.producers.push_back(describe_owner(owner, clients));
    }
}

void add_gates(const Log& log, const client_table::ClientTable& clients, PartitionDescription& partition) {
    const gate_table::GateTable<HostMemory> gates(log.readers);
    for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
        const std::uint64_t owner = gates.owner(i);
        const std::uint64_t word = gates.word(i);
        if (!layout::has_begun(owner) || !gates.held(word))
            continue;
        partition.gates.push_back({gates.name(i), gates.offset_of(word), describe_owner(owner, clients), false});
    }
}

PartitionDescription describe_partition(const TopicFiles& topic, std::uint32_t number,
                                        const client_table::ClientTable& clients) {
    const platform::Mapping file = topic.map_partition(number, platform::Access::read_only);
    const Log log = topic.log_in(file, number);
    PartitionDescription partition = describe_log(log, number, clients);
    partition.file_bytes = file.size();
    partition.quarantined_cells = count_quarantined(log);
    topic.check_whole(file, number);
    return partition;
}

/// A damaged partition does not hide the others.
PartitionDescription describe_if_sound(const TopicFiles& topic, std::uint32_t number, const client_table::ClientTable& clients) {
    try {
        return describe_partition(topic, number, clients);
    } catch (const Error& error) {
        topic.check_whole();
        if (!is_damage(error))
            throw;
        PartitionDescription partition;
        partition.partition = number;
        partition.damage = error.what();
        return partition;
    }
}

template <class Value>
void check_same(std::string_view topic, const char* option, const Value& found, const Value& wanted,
                const std::string& found_text, const std::string& wanted_text) {
    if (found == wanted)
        return;
    throw Error(ErrorCode::mismatch, std::string(topic),
                "topic '" + std::string(topic) + "' exists with " + option + " " + found_text + ", not " + wanted_text);
}

void check_same(std::string_view topic, const char* option, std::uint64_t found, std::uint64_t wanted) {
    check_same(topic, option, found, wanted, std::to_string(found), std::to_string(wanted));
}

}  // namespace

std::string describe_type(const ValueType& type) {
    if (type.name.empty())
        return "bytes";
    return "'" + type.name + "' (" + std::to_string(type.size) + " bytes, alignment " + std::to_string(type.alignment) +
           ")";
}

std::uint64_t count_quarantined(const Log& log) noexcept {
    if (log.control->closings.load(std::memory_order_relaxed) == 0)
        return 0;
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < log.records; ++i) {
        const std::uint64_t word = log.cell_at(i).word.load(std::memory_order_relaxed);
        if (partition_log::state_of(word) == partition_log::CellState::quarantined)
            ++count;
    }
    return count;
}

PartitionDescription describe_log(const Log& log, std::uint32_t number, const client_table::ClientTable& clients) {
    PartitionDescription partition;
    partition.partition = number;
    const partition_log::ControlCheck check = partition_log::check_control(log);
    if (check.sound()) {
        partition.log_start = check.start;
        partition.log_end = check.end;
    } else {
        partition.damage = to_text(check, log.first_offset);
    }
    partition.closed_tickets = log.control->closed_tickets.load(std::memory_order_relaxed);
    partition.reaped_producers = log.control->reaped_producers.load(std::memory_order_relaxed);
    partition.exclusive = log.control->lease.load(std::memory_order_relaxed) != 0;
    count_extents(log, partition);
    add_producers(log, clients, partition);
    add_gates(log, clients, partition);
    return partition;
}

TopicDescription describe_options(const TopicFiles& topic) {
    const layout::PartitionGeometry geometry = geometry_for(topic.options());
    TopicDescription description;
    description.name = topic.name();
    description.id = topic.id();
    description.options = topic.options();
    description.options.access = platform::rights_of(meta_path(topic.directory()));
    description.record_bytes_max = record_bytes_max(geometry);
    description.inline_bytes_max = inline_bytes_max(geometry);
    description.batch_records_max = geometry.batch_records_max;
    description.retained_records = retained_records(geometry);
    description.retained_payload_bytes = retained_payload_bytes(geometry);
    description.bytes = topic_bytes(topic.options());
    return description;
}

TopicDescription describe_topic(const TopicFiles& topic, const client_table::ClientTable& clients) {
    TopicDescription description = describe_options(topic);
    for (std::uint32_t partition = 0; partition < topic.options().partitions; ++partition) {
        description.partitions.push_back(describe_if_sound(topic, partition, clients));
    }
    return description;
}

void check_same_options(std::string_view topic, const TopicOptions& found, const TopicOptions& wanted) {
    check_same(topic, "partitions", found.partitions, wanted.partitions);
    check_same(topic, "records", found.records, wanted.records);
    check_same(topic, "cell_bytes", found.cell_bytes, wanted.cell_bytes);
    check_same(topic, "payload_bytes", found.payload_bytes, wanted.payload_bytes);
    check_same(topic, "producer_slots", found.producer_slots, wanted.producer_slots);
    check_same(topic, "groups", found.groups, wanted.groups);
    check_same(topic, "members", found.members, wanted.members);
    check_same(topic, "when_full", found.when_full, wanted.when_full, std::string(to_string(found.when_full)),
               std::string(to_string(wanted.when_full)));
    check_same(topic, "value_type", found.value_type, wanted.value_type, describe_type(found.value_type),
               describe_type(wanted.value_type));
    check_same(topic, "first_offset", found.first_offset, wanted.first_offset);
}

std::string_view to_string(WhenFull policy) noexcept {
    switch (policy) {
        case WhenFull::overwrite:
            return "overwrite";
        case WhenFull::block:
            return "block";
    }
    return "unknown";
}

std::string_view to_string(ClientState state) noexcept {
    switch (state) {
        case ClientState::alive:
            return "alive";
        case ClientState::dead:
            return "dead";
        case ClientState::unknown:
            break;
    }
    return "unknown";
}

std::string to_string(const ClientDescription& client) {
    std::string text("client ");
    text.append(std::to_string(client.slot));
    if (client.pid != 0)
        text.append(", pid ").append(std::to_string(client.pid));
    switch (client.state) {
        case ClientState::alive:
            return text.append(", alive");
        case ClientState::dead:
            return text.append(client.pid != 0 ? ", dead" : ", dead (its pid is not known any more)");
        case ClientState::unknown:
            break;
    }
    return text.append(" (whether it lives cannot be told)");
}

std::string to_string(const TopicId& id) {
    std::string text;
    for (const std::uint8_t byte : id) {
        std::array<char, 3> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(byte));
        text += digits.data();
    }
    return text;
}

}  // namespace ringmain
