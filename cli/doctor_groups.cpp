// Groups: lost positions, losses to come, nobody there, nobody polling; and who holds full topics back.
#include <fmt/format.h>

#include <algorithm>

#include "doctor_examination.hpp"
#include "figures.hpp"
#include "group_report.hpp"
#include "numbers.hpp"

namespace ringmain::cli {

namespace {

std::int64_t last_commit_of(const GroupDescription& group) {
    std::int64_t last_ns = 0;
    for (const GroupPartitionDescription& partition : group.partitions)
        last_ns = std::max(last_ns, partition.committed_ns);
    return last_ns;
}

bool has_members(const GroupDescription& group) { return group.state != GroupState::empty; }

std::string group_arguments(const std::string& topic, const std::string& group) {
    return fmt::format("{} -t {}", shell_word(group), shell_word(topic));
}

void examine_lost(const BrokerStats& stats, const GroupDescription& group, Findings& findings) {
    std::uint64_t lost = 0;
    std::vector<std::uint32_t> partitions;
    std::int64_t since_ns = 0;
    for (const GroupPartitionDescription& partition : group.partitions) {
        if (partition.lag.lost == 0)
            continue;
        lost += partition.lag.lost;
        partitions.push_back(partition.lag.partition);
        since_ns = std::max(since_ns, partition.committed_ns);
    }
    if (lost == 0)
        return;
    const bool waits = group.on_loss == OnLoss::error;
    Finding& finding = findings.emplace_back(make_finding(
        "position-lost", group_object(group),
        fmt::format("{} went before the group read them, in partitions {}; it {}", counted(lost, "record"),
                    fmt::join(partitions, " "),
                    waits ? "delivers nothing from there until somebody moves it" : "goes on behind them")));
    if (waits)
        finding.severity = Severity::error;
    finding.since_ns = since_ns;
    finding.command = ringmain_command(
        stats, fmt::format("group reset {} --to +0 --execute{}", group_arguments(group.topic, group.name),
                           has_members(group) ? " --force" : ""));
}

/// The partition that comes first to losing records.
const GroupPartitionDescription* nearest_loss(const GroupDescription& group) {
    const GroupPartitionDescription* nearest = nullptr;
    for (const GroupPartitionDescription& partition : group.partitions) {
        if (!partition.records_until_loss || partition.lag.records == 0 || partition.lag.lost != 0)
            continue;
        if (nearest == nullptr || *partition.records_until_loss < *nearest->records_until_loss)
            nearest = &partition;
    }
    return nearest;
}

void examine_nearest_loss(const BrokerStats& stats, const TopicStats& topic, const GroupDescription& group,
                          Findings& findings) {
    const GroupPartitionDescription* const nearest = nearest_loss(group);
    if (nearest == nullptr || *nearest->records_until_loss > topic.description.retained_records / 10)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "loss-near", group_object(group),
        fmt::format("is {} behind in partition {}, and loses the first of them after {} more",
                    counted(nearest->lag.records, "record"), nearest->lag.partition, *nearest->records_until_loss)));
    finding.since_ns = nearest->committed_ns;
    finding.command = ringmain_command(stats, "group lag " + group_arguments(group.topic, group.name));
    finding.mends = false;
}

void examine_absence(const BrokerStats& stats, const TopicStats& topic, const GroupDescription& group,
                     Findings& findings) {
    const std::uint64_t lag = totals_of(group).records;
    if (has_members(group) || lag == 0 || group.name == kDeadLettersGroup)
        return;  // dead letters are found by themselves
    const bool holds = group.gating && topic.description.options.when_full == WhenFull::block;
    Finding& finding = findings.emplace_back(make_finding(
        "group-without-members", group_object(group),
        fmt::format("is {} behind, and has no members{}: start them, or delete the group if nobody needs it",
                    counted(lag, "record"), holds ? "; producers wait for it once the topic is full" : "")));
    finding.since_ns = last_commit_of(group);
    finding.command = ringmain_command(stats, "group delete " + group_arguments(group.topic, group.name));
}

void examine_member(const BrokerStats& stats, const GroupDescription& group, const GroupMemberDescription& member,
                    Findings& findings) {
    if (!member.in_group || member.last_poll_ns == 0 || !member.client || member.client->state != ClientState::alive)
        return;
    const std::chrono::nanoseconds silent(stats.taken_ns - std::min(stats.taken_ns, member.last_poll_ns));
    if (silent <= member.session_timeout)
        return;
    const ClientStats* const client = find_client(stats, *member.client);
    if (client == nullptr || client->process == ProcessState::stopped)
        return;  // that is found by itself
    Finding& finding = findings.emplace_back(make_finding(
        "member-silent", describe_client(*client),
        fmt::format("has not polled for {} (its time-out: {}), and holds partitions {} of {}",
                    short_time(std::chrono::duration_cast<std::chrono::milliseconds>(silent)),
                    short_time(member.session_timeout),
                    member.partitions.empty() ? "none" : fmt::format("{}", fmt::join(member.partitions, " ")),
                    group_object(group))));
    finding.since_ns = member.last_poll_ns;
    finding.command = client->same_pid_namespace
                          ? fmt::format("kill {}", client->client.pid)
                          : ringmain_command(stats, "group describe " + group_arguments(group.topic, group.name));
    finding.mends = client->same_pid_namespace;
}

std::string describe_holder(const BrokerStats& stats, const LogHolder& holder) {
    const std::string name = fmt::format("{} '{}'", holder.queue ? "queue" : holder.group ? "group" : "gate", printable(holder.name));
    if (holder.queue)
        return name;
    if (!holder.client)
        return name + ", which has no member there";
    const ClientStats* const client = find_client(stats, *holder.client);
    const bool stopped = client != nullptr && client->process == ProcessState::stopped;
    return fmt::format("{} of {}{}", name, client != nullptr ? describe_client(*client) : to_string(*holder.client),
                       stopped ? ", which is stopped" : "");
}

/// Who holds a log start can be let on, cleaned up after, moved, or has to be looked at.
void add_way_out(const BrokerStats& stats, const LogHolder& holder, Finding& finding) {
    const ClientStats* const client = holder.client ? find_client(stats, *holder.client) : nullptr;
    if (client != nullptr && client->process == ProcessState::stopped) {
        finding.command = fmt::format("kill -CONT {}", client->client.pid);
        finding.loses = true;
    } else if (holder.client && holder.client->state == ClientState::dead) {
        finding.command = ringmain_command(stats, "doctor --fix");
    } else if (holder.queue) {
        finding.command = ringmain_command(stats, "queue describe " + group_arguments(holder.topic, holder.name));
        finding.mends = false;
    } else if (holder.group && holder.name == kDeadLettersGroup) {
        finding.text.append("; replay or purge its dead letters");
        finding.command = ringmain_command(stats, "dlq list " + shell_word(holder.topic));
        finding.mends = false;
    } else if (holder.group && !holder.client) {
        finding.text.append("; start its members, or skip what they have not read");
        finding.command = ringmain_command(
            stats, fmt::format("group reset {} --to latest --execute", group_arguments(holder.topic, holder.name)));
        finding.loses = true;
    } else {
        finding.command = ringmain_command(stats, "who-blocks -t " + shell_word(holder.topic));
        finding.mends = false;
    }
}

const TopicStats* find_topic(const BrokerStats& stats, const std::string& name) {
    const auto found = std::find_if(stats.topics.begin(), stats.topics.end(),
                                    [&](const TopicStats& topic) { return topic.name == name; });
    return found == stats.topics.end() ? nullptr : &*found;
}

}  // namespace

void examine_blocking(const Examined& examined, Findings& findings) {
    for (const LogHolder& holder : examined.holders) {
        const TopicStats* const topic = find_topic(examined.stats, holder.topic);
        if (!holder.lowest || topic == nullptr || holder.records == 0 ||
            holder.room_records > topic->description.retained_records / 10)
            continue;
        const bool full = holder.room_records == 0;
        Finding& finding = findings.emplace_back(make_finding(
            full ? "blocked" : "nearly-blocked", fmt::format("topic '{}' partition {}", holder.topic, holder.partition),
            fmt::format("{}, {} {} behind",
                        full ? "is full: producers wait for " + describe_holder(examined.stats, holder)
                             : fmt::format("has room for {}, held back by {}", counted(holder.room_records, "record"),
                                           describe_holder(examined.stats, holder)),
                        "which is", counted(holder.records, "record"))));
        finding.since_ns = holder.since_ns;
        add_way_out(examined.stats, holder, finding);
    }
}

void examine_groups(const Examined& examined, Findings& findings) {
    for (const TopicStats& topic : examined.stats.topics) {
        for (const GroupDescription& group : topic.groups) {
            if (group.state == GroupState::queue)
                continue;  // see examine_queues
            examine_lost(examined.stats, group, findings);
            examine_nearest_loss(examined.stats, topic, group, findings);
            examine_absence(examined.stats, topic, group, findings);
            for (const GroupMemberDescription& member : group.members)
                examine_member(examined.stats, group, member, findings);
        }
    }
}

}  // namespace ringmain::cli
