// Consumer groups as JSON. Names of members are those of the public API.
#include <algorithm>

#include "group_report.hpp"
#include "json_values.hpp"
#include "retry_report.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

Json lag_members(const GroupLag& lag) {
    return {{"partition", lag.partition},
            {"committed", or_null(lag.committed)},
            {"position", lag.position},
            {"start", lag.log_start},
            {"end", lag.log_end},
            {"lag", lag.records},
            {"lost", lag.lost},
            {"damaged", lag.damaged},
            {"lag_bytes", or_null(lag.bytes)},
            {"lag_bytes_estimated", lag.bytes_estimated},
            {"lag_ms", ms_or_null(lag.time)}};
}

/// "stream" or "queue".
std::string_view kind_of(GroupState state) noexcept { return state == GroupState::queue ? "queue" : "stream"; }

Json member_to_json(const GroupMemberDescription& member) {
    return {{"slot", member.slot},
            {"incarnation", member.incarnation},
            {"in_group", member.in_group},
            {"static_name", text_or_null(member.static_name)},
            {"client", client_to_json(member.client)},
            {"last_poll_ns", number_or_null(member.last_poll_ns)},
            {"session_timeout_ms", member.session_timeout.count()},
            {"partitions", member.partitions}};
}

Json partition_to_json(const GroupPartitionDescription& partition) {
    Json json = lag_members(partition.lag);
    json["owner"] = or_null(partition.owner);
    json["generation"] = partition.generation;
    json["gates"] = partition.gates;
    json["delivered"] = partition.delivered;
    json["committed_ns"] = number_or_null(partition.committed_ns);
    json["owned_ns"] = number_or_null(partition.owned_ns);
    json["commits"] = partition.commits;
    json["fenced"] = partition.fenced;
    json["handovers"] = partition.handovers;
    json["records_until_loss"] = or_null(partition.records_until_loss);
    json["retries"] = retries_to_json(partition);
    return json;
}

Json holder_to_json(const LogHolder& holder) {
    return {{"topic", holder.topic},
            {"partition", holder.partition},
            {"kind", holder.queue ? "queue" : holder.group ? "group" : "gate"},
            {"name", holder.name},
            {"letters", holder.letters},
            {"holds", holder.lowest},
            {"offset", holder.offset},
            {"start", holder.log_start},
            {"end", holder.log_end},
            {"lag", holder.records},
            {"lag_ms", ms_or_null(holder.time)},
            {"room_records", holder.room_records},
            {"delivered", holder.group ? Json(holder.delivered) : Json(nullptr)},
            {"static_name", text_or_null(holder.static_name)},
            {"client", client_to_json(holder.client)},
            {"since_ns", number_or_null(holder.since_ns)}};
}

}  // namespace

Json group_to_json(const GroupDescription& group) {
    Json members = Json::array();
    for (const GroupMemberDescription& member : group.members)
        members.push_back(member_to_json(member));
    Json partitions = Json::array();
    for (const GroupPartitionDescription& partition : group.partitions)
        partitions.push_back(partition_to_json(partition));
    return {{"topic", group.topic},
            {"group", group.name},
            {"kind", kind_of(group.state)},
            {"state", to_string(group.state)},
            {"start", start_to_json(group.start)},
            {"on_loss", to_string(group.on_loss)},
            {"gating", group.gating},
            {"lag_records_max", group.lag_records_max},
            {"lag_ms_max", group.lag_time_max.count()},
            {"retries", retries_to_json(group)},
            {"members", std::move(members)},
            {"partitions", std::move(partitions)}};
}

Json client_to_json(const std::optional<ClientDescription>& client) {
    if (!client)
        return nullptr;
    const Json pid = client->pid != 0 ? Json(client->pid) : Json(nullptr);
    const Json alive = client->state != ClientState::unknown ? Json(client->state == ClientState::alive) : Json(nullptr);
    return {{"slot", client->slot}, {"incarnation", client->incarnation}, {"pid", pid}, {"alive", alive}};
}

GroupTotals totals_of(const GroupDescription& group) {
    GroupTotals totals;
    for (const GroupPartitionDescription& partition : group.partitions) {
        totals.records += partition.lag.records;
        totals.lost += partition.lag.lost;
        if (partition.records_until_loss)
            totals.records_until_loss = std::min(*partition.records_until_loss, totals.records_until_loss.value_or(UINT64_MAX));
    }
    return totals;
}

Json group_totals_to_json(const GroupDescription& group) {
    const GroupTotals totals = totals_of(group);
    const auto members = std::count_if(group.members.begin(), group.members.end(), [](const auto& member) { return member.in_group; });
    return {{"name", group.name},
            {"kind", kind_of(group.state)},
            {"state", to_string(group.state)},
            {"members", members},
            {"gating", group.gating},
            {"lag", totals.records},
            {"lost", totals.lost},
            {"records_until_loss", or_null(totals.records_until_loss)}};
}

std::string groups_to_json(const std::vector<GroupSummary>& groups) {
    Json array = Json::array();
    for (const GroupSummary& group : groups) {
        array.push_back({{"topic", group.topic},
                         {"group", group.name},
                         {"kind", kind_of(group.state)},
                         {"state", to_string(group.state)},
                         {"members", group.members},
                         {"gating", group.gating},
                         {"lag", group.records},
                         {"lost", group.lost}});
    }
    return line(array);
}

std::string groups_to_json(const std::vector<GroupDescription>& groups) {
    Json array = Json::array();
    for (const GroupDescription& group : groups)
        array.push_back(group_to_json(group));
    return line(array);
}

std::string lag_to_json(const std::vector<GroupDescription>& groups) {
    Json array = Json::array();
    for (const GroupDescription& group : groups) {
        for (const GroupPartitionDescription& partition : group.partitions) {
            Json json = {{"topic", group.topic}, {"group", group.name}};
            json.update(lag_members(partition.lag));
            array.push_back(std::move(json));
        }
    }
    return line(array);
}

std::string holders_to_json(const std::vector<LogHolder>& holders) {
    Json array = Json::array();
    for (const LogHolder& holder : holders)
        array.push_back(holder_to_json(holder));
    return line(array);
}

}  // namespace ringmain::cli
