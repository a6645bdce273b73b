// Statistics as JSON. Names of members are those of the public API.
#include <nlohmann/json.hpp>

#include "group_report.hpp"
#include "json_values.hpp"
#include "queue_report.hpp"
#include "stats_report.hpp"
#include "topic_report.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

Json code_or_null(const std::optional<ErrorCode>& code) { return code ? Json(to_string(*code)) : Json(nullptr); }

Json client_to_json(const ClientStats& client) {
    Json json = cli::client_to_json(client.client);
    json["since_ns"] = number_or_null(client.since_ns);
    json["same_pid_namespace"] = client.same_pid_namespace;
    json["process"] = client.process == ProcessState::unknown ? Json(nullptr) : Json(to_string(client.process));
    json["command"] = text_or_null(client.command);
    json["producers"] = client.producers;
    json["leases"] = client.leases;
    json["open_tickets"] = client.open_tickets;
    json["extents"] = client.extents;
    json["gates"] = client.gates;
    json["member_slots"] = client.member_slots;
    json["group_partitions"] = client.group_partitions;
    json["workers"] = client.workers;
    json["acquired_records"] = client.acquired_records;
    return json;
}

Json producer_to_json(const ProducerStats& producer) {
    Json json = cli::client_to_json(producer.client);
    json["producer_slot"] = producer.slot;
    json["exclusive"] = producer.exclusive;
    json["taking"] = producer.taking;
    json["open_tickets"] = producer.open_tickets;
    json["first_ticket"] = or_null(producer.first_ticket);
    json["extents"] = producer.extents;
    return json;
}

Json partition_to_json(const PartitionStats& partition) {
    Json json = cli::partition_to_json(partition);
    json["error"] = text_or_null(partition.error);
    json["error_code"] = code_or_null(partition.error_code);
    json["record_bytes"] = partition.record_bytes;
    json["record_bytes_estimated"] = partition.record_bytes_estimated;
    json["newest_record_bytes"] = partition.newest_record_bytes;
    json["oldest_ns"] = number_or_null(partition.oldest_ns);
    json["newest_ns"] = number_or_null(partition.newest_ns);
    json["open_tickets"] = partition.open_tickets;
    json["released_cells"] = partition.released_cells;
    json["gaps"] = partition.gaps;
    json["lost_records"] = partition.lost_records;
    json["producer_names"] = partition.producer_names;
    json["producers"] = Json::array();
    for (const ProducerStats& producer : partition.attached)
        json["producers"].push_back(producer_to_json(producer));
    return json;
}

Json queue_to_json(const QueueStats& queue) {
    if (queue.error.empty()) {
        Json json = cli::queue_to_json(queue);
        json["error"] = nullptr;
        return json;
    }
    return {{"topic", queue.topic}, {"queue", queue.name}, {"error", queue.error}, {"error_code", code_or_null(queue.error_code)}};
}

Json topic_to_json(const TopicStats& topic) {
    Json json = {
        {"name", topic.name}, {"error", text_or_null(topic.error)}, {"error_code", code_or_null(topic.error_code)}};
    if (!topic.error.empty())
        return json;
    json["id"] = to_string(topic.description.id);
    json["options"] = options_to_json(topic.description.options);
    json["bytes"] = topic.description.bytes;
    json["retained_records"] = topic.description.retained_records;
    json["retained_payload_bytes"] = topic.description.retained_payload_bytes;
    json["partitions"] = Json::array();
    for (const PartitionStats& partition : topic.partitions)
        json["partitions"].push_back(partition_to_json(partition));
    json["groups"] = Json::array();
    for (const GroupDescription& group : topic.groups)
        json["groups"].push_back(group_to_json(group));
    json["queues"] = Json::array();
    for (const QueueStats& queue : topic.queues)
        json["queues"].push_back(queue_to_json(queue));
    return json;
}

Json file_system_to_json(const FileSystemStats& file_system) {
    return {{"type", text_or_null(file_system.type)},
            {"remote", file_system.remote},
            {"bytes", or_null(file_system.bytes)},
            {"free_bytes", or_null(file_system.free_bytes)},
            {"free_inodes", or_null(file_system.free_inodes)}};
}

}  // namespace

std::string stats_to_json(const BrokerStats& stats, bool of_all) {
    Json clients = Json::array();
    for (const ClientStats& client : stats.clients)
        clients.push_back(client_to_json(client));
    Json topics = Json::array();
    for (const TopicStats& topic : stats.topics)
        topics.push_back(topic_to_json(topic));
    const Json json = {
        {"taken_ns", stats.taken_ns},
        {"directory", stats.directory},
        {"all_topics", of_all},
        {"topics_bytes", stats.topics_bytes},
        {"file_system", file_system_to_json(stats.file_system)},
        {"keeper", {{"running", or_null(stats.keeper.running)}, {"pid", number_or_null(stats.keeper.pid)}}},
        {"leftovers",
         {{"directories", stats.leftovers.directories},
          {"files", stats.leftovers.files},
          {"dead_topics", stats.leftovers.dead_topics}}},
        {"clients_max", kBrokerClientsMax},
        {"clients_readable", stats.clients_readable},
        {"clients", std::move(clients)},
        {"topics", std::move(topics)}};
    return line(json);
}

}  // namespace ringmain::cli
