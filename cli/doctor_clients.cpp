// Clients: those that are stopped and hold something, those whose files were taken away, and room for more.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "doctor_examination.hpp"
#include "group_report.hpp"
#include "numbers.hpp"

namespace ringmain::cli {

namespace {

bool same(const ClientDescription& a, const ClientDescription& b) noexcept {
    return a.slot == b.slot && a.incarnation == b.incarnation;
}

/// What a client keeps from others: the worst first.
struct Held {
    std::vector<std::string> hurting;
    std::vector<std::string> other;
};

void add_partition(const ClientDescription& client, const TopicStats& topic, const PartitionStats& partition,
                   Held& held) {
    const std::string where = fmt::format("topic '{}' partition {}", topic.name, partition.partition);
    for (const ProducerStats& producer : partition.attached) {
        if (!same(producer.client, client))
            continue;
        const bool inside = producer.taking || producer.open_tickets != 0;
        if (producer.exclusive)
            held.hurting.push_back("the exclusive lease of " + where);
        if (inside && partition.quarantined_cells != 0)
            held.hurting.push_back(
                fmt::format("{} of {}", counted(partition.quarantined_cells, "quarantined cell"), where));
        else if (inside)
            held.other.push_back("an open ticket of " + where);
        if (!producer.exclusive && !inside)
            held.other.push_back("a producer slot of " + where);
    }
    for (const GateDescription& gate : partition.gates) {
        if (same(gate.holder, client))
            held.hurting.push_back(fmt::format("gate '{}' of {}, which keeps everything from offset {} on",
                                               printable(gate.name), where, gate.offset));
    }
}

void add_group(const ClientDescription& client, const GroupDescription& group, Held& held) {
    for (const GroupMemberDescription& member : group.members) {
        if (!member.client || !same(*member.client, client))
            continue;
        if (member.partitions.empty())
            held.other.push_back("a place in " + group_object(group));
        else
            held.hurting.push_back(
                fmt::format("partitions {} of {}", fmt::join(member.partitions, " "), group_object(group)));
    }
}

void add_queue(const ClientDescription& client, const QueueStats& queue, Held& held) {
    for (const WorkerDescription& worker : queue.workers) {
        if (!worker.client || !same(*worker.client, client))
            continue;
        const std::string object = fmt::format("queue '{}' of topic '{}'", printable(queue.name), queue.topic);
        held.other.push_back(worker.in_flight == 0 ? "a place in " + object : fmt::format("{} of {}", counted(worker.in_flight, "record"), object));
    }
}

Held held_by(const BrokerStats& stats, const ClientDescription& client) {
    Held held;
    for (const TopicStats& topic : stats.topics) {
        for (const PartitionStats& partition : topic.partitions)
            add_partition(client, topic, partition, held);
        for (const GroupDescription& group : topic.groups)
            add_group(client, group, held);
        for (const QueueStats& queue : topic.queues)
            add_queue(client, queue, held);
    }
    return held;
}

std::string in_words(const Held& held) {
    constexpr std::size_t kNamed = 6;
    std::vector<std::string> all = held.hurting;
    all.insert(all.end(), held.other.begin(), held.other.end());
    if (all.empty())
        return "nothing that others wait for";
    const std::string others = all.size() > kNamed ? fmt::format("; and {} more", all.size() - kNamed) : "";
    all.resize(std::min(all.size(), kNamed));
    return fmt::format("{}{}", fmt::join(all, "; "), others);
}

void examine_stopped(const BrokerStats& stats, const ClientStats& client, Findings& findings) {
    const Held held = held_by(stats, client.client);
    Finding& finding = findings.emplace_back(
        make_finding("stopped-client", describe_client(client),
                     fmt::format("is stopped by a signal or a debugger, and holds {}", in_words(held))));
    if (!held.hurting.empty())
        finding.severity = Severity::error;
    else if (held.other.empty())
        finding.severity = Severity::note;
    finding.command = fmt::format("kill -CONT {}", client.client.pid);
}

void examine_table(const BrokerStats& stats, Findings& findings) {
    const auto alive = static_cast<std::uint64_t>(
        std::count_if(stats.clients.begin(), stats.clients.end(),
                      [](const ClientStats& client) { return client.client.state == ClientState::alive; }));
    if (alive * 10 < std::uint64_t{kBrokerClientsMax} * 9)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "clients-full", "the broker", fmt::format("{} of {} possible clients are attached", alive, kBrokerClientsMax)));
    if (alive == kBrokerClientsMax)
        finding.severity = Severity::error;
    finding.command = ringmain_command(stats, "stats");
    finding.mends = false;
}

void examine_removed_files(const Examined& examined, Findings& findings) {
    std::map<std::int32_t, std::vector<std::string>> by_process;
    for (const Surroundings::RemovedFile& file : examined.surroundings.removed_files)
        by_process[file.pid].push_back(file.path);
    for (const auto& [pid, paths] : by_process) {
        const std::string others = paths.size() > 1 ? fmt::format(" and {} more", paths.size() - 1) : "";
        Finding& finding = findings.emplace_back(make_finding(
            "files-removed", fmt::format("pid {}", pid),
            fmt::format("works on files that were removed or replaced, and shares nothing with others there: {}{}",
                        paths.front(), others)));
        finding.command = fmt::format("kill {}", pid);
    }
}

}  // namespace

void examine_clients(const Examined& examined, Findings& findings) {
    const BrokerStats& stats = examined.stats;
    if (!stats.clients_readable) {
        findings.push_back(make_finding("clients-not-visible", "the broker",
                                        "this user may not see who is attached, nor who of them lives"));
    }
    for (const ClientStats& client : stats.clients) {
        if (client.process == ProcessState::stopped)
            examine_stopped(stats, client, findings);
    }
    examine_table(stats, findings);
    examine_removed_files(examined, findings);
}

}  // namespace ringmain::cli
