// Statistics as text.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "figures.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "queue_report.hpp"
#include "stats_report.hpp"
#include "table.hpp"

namespace ringmain::cli {

namespace {

template <class... Args>
void add(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

std::string space_of(const FileSystemStats& file_system) {
    if (!file_system.free_bytes || !file_system.bytes)
        return "free space not known";
    return fmt::format("{} of {} free", short_bytes(*file_system.free_bytes), short_bytes(*file_system.bytes));
}

void add_broker(std::string& text, const BrokerStats& stats, bool of_all) {
    const auto stopped = std::count_if(stats.clients.begin(), stats.clients.end(), [](const ClientStats& client) {
        return client.process == ProcessState::stopped;
    });
    const auto dead = std::count_if(stats.clients.begin(), stats.clients.end(),
                                    [](const ClientStats& client) { return client.client.state == ClientState::dead; });
    add(text, "broker     {} ({}, {})\n", stats.directory, stats.file_system.type, space_of(stats.file_system));
    if (of_all)
        add(text, "topics     {}, {}\n", stats.topics.size(), short_bytes(stats.topics_bytes));
    else
        add(text, "asked for  {}, {}; what clients hold is counted in {} alone\n", counted(stats.topics.size(), "topic"),
            short_bytes(stats.topics_bytes), stats.topics.size() == 1 ? "it" : "them");
    add(text, "keeper     {}\n", describe_keeper(stats.keeper));
    add(text, "clients    {} of {}", stats.clients.size(), kBrokerClientsMax);
    if (stopped != 0)
        add(text, ", {} stopped", stopped);
    if (dead != 0)
        add(text, ", {} dead and not cleaned up after", dead);
    if (!stats.clients_readable)
        text.append(" (this user may not see who is attached)");
    text.push_back('\n');
    if (stats.leftovers.total() != 0)
        add(text, "leftovers  {} of killed processes\n", stats.leftovers.total());
}

void add_errors(std::string& text, const BrokerStats& stats) {
    for (const TopicStats& topic : stats.topics) {
        if (!topic.error.empty())
            add(text, "topic {}: {}\n", topic.name, topic.error);
        for (const QueueStats& queue : topic.queues) {
            if (!queue.error.empty())
                add(text, "queue {} of topic {}: {}\n", printable(queue.name), queue.topic, queue.error);
        }
        for (const PartitionStats& partition : topic.partitions) {
            if (!partition.error.empty())
                add(text, "topic {} partition {}: {}\n", topic.name, partition.partition, partition.error);
            if (!partition.damage.empty())
                add(text, "topic {} partition {} is damaged: {}\n", topic.name, partition.partition, partition.damage);
        }
    }
}

std::string extents_of(const PartitionStats& partition) {
    return fmt::format("{}/{}/{}", partition.extents_free, partition.extents_owned, partition.extents_sealed);
}

void add_partition_row(Table& table, const TopicStats& topic, const PartitionStats& partition, std::int64_t now_ns) {
    const bool readable = partition.error.empty() && partition.damage.empty();
    const auto figure = [&](std::uint64_t number) { return readable ? std::to_string(number) : std::string("-"); };
    const std::string bytes = (partition.record_bytes_estimated ? "~" : "") + short_bytes(partition.record_bytes);
    table.add({topic.name, std::to_string(partition.partition), figure(partition.log_start), figure(partition.log_end),
               figure(partition.records), readable ? bytes : "-", age_of(partition.newest_ns, now_ns),
               age_of(partition.oldest_ns, now_ns),
               fmt::format("{}{}", partition.attached.size(), partition.exclusive ? " exclusive" : ""),
               std::to_string(partition.open_tickets), std::to_string(partition.closed_tickets),
               std::to_string(partition.quarantined_cells), std::to_string(partition.gaps),
               std::to_string(partition.lost_records), extents_of(partition)});
}

void add_partitions(std::string& text, const BrokerStats& stats) {
    Table table({"<TOPIC", "PARTITION", "START", "END", "RECORDS", "BYTES", "NEWEST", "OLDEST", "PRODUCERS", "OPEN",
                 "CLOSED", "QUARANTINED", "GAPS", "LOST", "FREE/OWNED/SEALED"});
    for (const TopicStats& topic : stats.topics) {
        for (const PartitionStats& partition : topic.partitions)
            add_partition_row(table, topic, partition, stats.taken_ns);
    }
    if (!table.empty())
        text.append("\n").append(table.text());
}

std::int64_t last_commit_of(const GroupDescription& group) {
    std::int64_t last_ns = 0;
    for (const GroupPartitionDescription& partition : group.partitions)
        last_ns = std::max(last_ns, partition.committed_ns);
    return last_ns;
}

void add_group_row(Table& table, const GroupDescription& group, std::int64_t now_ns) {
    const GroupTotals totals = totals_of(group);
    std::uint64_t bytes = 0;
    bool estimated = false;
    std::chrono::milliseconds time{0};
    std::uint64_t handovers = 0;
    std::uint64_t fenced = 0;
    for (const GroupPartitionDescription& partition : group.partitions) {
        bytes += partition.lag.bytes.value_or(0);
        estimated = estimated || partition.lag.bytes_estimated;
        time = std::max(time, partition.lag.time.value_or(std::chrono::milliseconds(0)));
        handovers += partition.handovers;
        fenced += partition.fenced;
    }
    const auto members =
        std::count_if(group.members.begin(), group.members.end(), [](const auto& member) { return member.in_group; });
    table.add({group.topic, printable(group.name), std::string(to_string(group.state)), std::to_string(members),
               std::to_string(totals.records), (estimated ? "~" : "") + short_bytes(bytes), short_time(time),
               std::to_string(totals.lost), age_of(last_commit_of(group), now_ns), std::to_string(handovers),
               std::to_string(fenced), totals.records_until_loss ? std::to_string(*totals.records_until_loss) : "-",
               group.gating ? "yes" : "no"});
}

void add_groups(std::string& text, const BrokerStats& stats) {
    Table table({"<TOPIC", "<GROUP", "<STATE", "MEMBERS", "LAG", "LAG-BYTES", "LAG-TIME", "LOST", "LAST-COMMIT",
                 "HANDOVERS", "FENCED", "UNTIL-LOSS", "<GATING"});
    for (const TopicStats& topic : stats.topics) {
        for (const GroupDescription& group : topic.groups) {
            if (group.state != GroupState::queue)
                add_group_row(table, group, stats.taken_ns);
        }
    }
    if (!table.empty())
        text.append("\n").append(table.text());
}

void add_queue_row(Table& table, const QueueStats& queue) {
    if (!queue.error.empty())
        return;
    const QueueTotals totals = totals_of(queue);
    table.add({queue.topic, printable(queue.name), std::to_string(queue.workers.size()), std::to_string(totals.records),
               std::to_string(totals.available), std::to_string(totals.delayed), std::to_string(totals.acquired),
               std::to_string(totals.ending), std::to_string(totals.expired), std::to_string(totals.returned),
               std::to_string(totals.redelivered), std::to_string(totals.dead_lettered), std::to_string(totals.skipped),
               std::to_string(totals.lost), std::to_string(totals.letters_refused)});
}

void add_queues(std::string& text, const BrokerStats& stats) {
    Table table({"<TOPIC", "<QUEUE", "WORKERS", "LAG", "AVAILABLE", "DELAYED", "ACQUIRED", "ENDING", "EXPIRED", "RETURNED", "REDELIVERED",
                 "DEAD-LETTERED", "SKIPPED", "LOST", "LETTERS-REFUSED"});
    for (const TopicStats& topic : stats.topics) {
        for (const QueueStats& queue : topic.queues)
            add_queue_row(table, queue);
    }
    if (!table.empty())
        text.append("\n").append(table.text());
}

void add_clients(std::string& text, const BrokerStats& stats) {
    Table table({"<CLIENT", "<STATE", "<COMMAND", "SINCE", "PRODUCERS", "LEASES", "OPEN", "EXTENTS", "GATES", "MEMBERS",
                 "PARTITIONS", "WORKERS", "ACQUIRED"});
    for (const ClientStats& client : stats.clients) {
        table.add({name_of(client), state_of(client), client.command.empty() ? "-" : printable(client.command),
                   age_of(client.since_ns, stats.taken_ns), std::to_string(client.producers),
                   std::to_string(client.leases), std::to_string(client.open_tickets), std::to_string(client.extents),
                   std::to_string(client.gates), std::to_string(client.member_slots),
                   std::to_string(client.group_partitions), std::to_string(client.workers),
                   std::to_string(client.acquired_records)});
    }
    if (!table.empty())
        text.append("\n").append(table.text());
}

}  // namespace

std::string name_of(const ClientStats& client) {
    if (client.client.pid == 0)
        return fmt::format("client {}", client.client.slot);
    return fmt::format("pid {}{}", client.client.pid, client.same_pid_namespace ? "" : " (of another pid namespace)");
}

std::string state_of(const ClientStats& client) {
    if (client.process == ProcessState::stopped)
        return "stopped";
    return std::string(to_string(client.client.state));
}

std::string describe_keeper(const KeeperStats& keeper) {
    if (!keeper.running)
        return "this user may not see whether one runs";
    if (!*keeper.running)
        return "none runs";
    return keeper.pid == 0 ? "runs, of a pid that is not known" : fmt::format("runs, pid {}", keeper.pid);
}

std::string stats_to_text(const BrokerStats& stats, bool of_all) {
    std::string text;
    add_broker(text, stats, of_all);
    add_errors(text, stats);
    add_partitions(text, stats);
    add_groups(text, stats);
    add_queues(text, stats);
    add_clients(text, stats);
    return text;
}

}  // namespace ringmain::cli
