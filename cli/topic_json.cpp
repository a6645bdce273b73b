// Topic descriptions as JSON. Names of members are those of the public API.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "group_report.hpp"
#include "retention_options.hpp"
#include "rights_text.hpp"
#include "topic_report.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

Json gate_to_json(const GateDescription& gate, std::uint64_t log_end) {
    return {{"name", gate.name},
            {"offset", gate.offset},
            {"lag", log_end - std::min(log_end, gate.offset)},
            {"holder", client_to_json(gate.holder)}};
}

/// 0: no limit.
Json retention_to_json(const Retention& retention) {
    return {{"age_ms", retention.age.count()}, {"records", retention.records}, {"bytes", retention.bytes}};
}

Json access_to_json(const TopicAccess& access) {
    Json object = Json::object();
    if (access.owner)
        object["owner"] = *access.owner;
    if (access.group)
        object["group"] = *access.group;
    if (access.mode)
        object["mode"] = mode_to_text(*access.mode);
    return object;
}

/// The line of one topic in the list. A damaged topic must not hide the others.
Json summary_to_json(const Broker& broker, const std::string& name) {
    try {
        const TopicDescription topic = broker.describe_topic(name);
        return {{"name", name},
                {"partitions", topic.options.partitions},
                {"when_full", to_string(topic.options.when_full)},
                {"bytes", topic.bytes}};
    } catch (const Error& error) {
        return {{"name", name}, {"error", error.what()}};
    }
}

}  // namespace

nlohmann::ordered_json options_to_json(const TopicOptions& options) {
    Json type = nullptr;
    if (!options.value_type.name.empty()) {
        type = {{"name", options.value_type.name},
                {"size", options.value_type.size},
                {"alignment", options.value_type.alignment}};
    }
    return {{"partitions", options.partitions},
            {"records", options.records},
            {"cell_bytes", options.cell_bytes},
            {"payload_bytes", options.payload_bytes},
            {"producer_slots", options.producer_slots},
            {"groups", options.groups},
            {"members", options.members},
            {"when_full", to_string(options.when_full)},
            {"value_type", type},
            {"first_offset", options.first_offset},
            {"retention", retention_to_json(options.retention)},
            {"access", access_to_json(options.access)}};
}

nlohmann::ordered_json partition_to_json(const PartitionDescription& partition) {
    Json producers = Json::array();
    for (const ClientDescription& producer : partition.producers)
        producers.push_back(client_to_json(producer));
    Json gates = Json::array();
    for (const GateDescription& gate : partition.gates)
        gates.push_back(gate_to_json(gate, partition.log_end));
    return {
        {"partition", partition.partition},
        {"log_start", partition.log_start},
        {"log_end", partition.log_end},
        {"records", partition.log_end - partition.log_start},
        {"damage", partition.damage.empty() ? Json(nullptr) : Json(partition.damage)},
        {"file_bytes", partition.file_bytes},
        {"closed_tickets", partition.closed_tickets},
        {"quarantined_cells", partition.quarantined_cells},
        {"reaped_producers", partition.reaped_producers},
        {"extents",
         {{"free", partition.extents_free}, {"owned", partition.extents_owned}, {"sealed", partition.extents_sealed}}},
        {"exclusive", partition.exclusive},
        {"producers", producers},
        {"gates", gates}};
}

std::string topic_to_json(const TopicDescription& topic, const std::vector<GroupDescription>& groups) {
    Json partitions = Json::array();
    for (const PartitionDescription& partition : topic.partitions)
        partitions.push_back(partition_to_json(partition));
    Json group_totals = Json::array();
    for (const GroupDescription& group : groups)
        group_totals.push_back(group_totals_to_json(group));
    const Json object = {{"name", topic.name},
                         {"id", to_string(topic.id)},
                         {"options", options_to_json(topic.options)},
                         {"record_bytes_max", topic.record_bytes_max},
                         {"inline_bytes_max", topic.inline_bytes_max},
                         {"batch_records_max", topic.batch_records_max},
                         {"retained_records", topic.retained_records},
                         {"retained_payload_bytes", topic.retained_payload_bytes},
                         {"retention_late_ms_max", late_at_most(topic.options.retention).count()},
                         {"bytes", topic.bytes},
                         {"partitions", partitions},
                         {"groups", group_totals}};
    return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string topics_to_json(const Broker& broker) {
    Json topics = Json::array();
    for (const std::string& name : broker.list_topics())
        topics.push_back(summary_to_json(broker, name));
    return topics.dump();
}

}  // namespace ringmain::cli
