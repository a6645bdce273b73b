// The keeper: what waits for one while none runs, what it may not do, and what a dead one left.
#include <fmt/format.h>

#include <algorithm>

#include "doctor_examination.hpp"
#include "numbers.hpp"

namespace ringmain::cli {

namespace {

/// What nobody but a keeper deals with.
struct Waiting {
    std::uint64_t producers = 0;
    std::uint64_t gates = 0;
    std::uint64_t members = 0;
    std::uint64_t workers = 0;
    std::uint64_t cells = 0;
};

bool is_dead(const ClientDescription& client) noexcept { return client.state == ClientState::dead; }

/// A producer that lives and is inside publish may still write a cell in quarantine: a keeper leaves it there.
bool may_release_cells(const PartitionStats& partition) {
    return std::none_of(partition.attached.begin(), partition.attached.end(), [](const ProducerStats& producer) {
        return !is_dead(producer.client) && (producer.taking || producer.open_tickets != 0);
    });
}

Waiting waiting_in(const BrokerStats& stats) {
    Waiting waiting;
    for (const TopicStats& topic : stats.topics) {
        for (const PartitionStats& partition : topic.partitions) {
            for (const ProducerStats& producer : partition.attached)
                waiting.producers += is_dead(producer.client) ? 1 : 0;
            for (const GateDescription& gate : partition.gates)
                waiting.gates += is_dead(gate.holder) ? 1 : 0;
            waiting.cells += may_release_cells(partition) ? partition.quarantined_cells : 0;
        }
        for (const GroupDescription& group : topic.groups) {
            for (const GroupMemberDescription& member : group.members)
                waiting.members += member.client && is_dead(*member.client) ? 1 : 0;
        }
        for (const QueueStats& queue : topic.queues) {
            for (const WorkerDescription& worker : queue.workers)
                waiting.workers += worker.client && is_dead(*worker.client) ? 1 : 0;
        }
    }
    return waiting;
}

std::string in_words(const Waiting& waiting) {
    std::vector<std::string> parts;
    if (waiting.producers != 0)
        parts.push_back(counted(waiting.producers, "slot") + " of dead producers");
    if (waiting.gates != 0)
        parts.push_back(counted(waiting.gates, "gate") + " of dead readers");
    if (waiting.members != 0)
        parts.push_back(counted(waiting.members, "place") + " of dead members of groups");
    if (waiting.workers != 0)
        parts.push_back(counted(waiting.workers, "place") + " of dead workers of queues");
    if (waiting.cells != 0)
        parts.push_back(counted(waiting.cells, "quarantined cell"));
    return fmt::format("{}", fmt::join(parts, ", "));
}

void examine_waiting(const BrokerStats& stats, Findings& findings) {
    const std::string what = in_words(waiting_in(stats));
    if (what.empty())
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "no-keeper", "the broker",
        fmt::format("no keeper runs, and this waits for one: {}. One pass mends it for now; ringmaind does for good",
                    what)));
    finding.command = ringmain_command(stats, "doctor --fix");
}

bool has_retention(const TopicStats& topic) noexcept { return topic.description.options.retention != Retention{}; }

/// Groups that are let go by the age of their next record.
bool has_let_go_by_age(const TopicStats& topic) {
    return std::any_of(topic.groups.begin(), topic.groups.end(),
                       [](const GroupDescription& group) { return group.gating && group.lag_time_max.count() != 0; });
}

void examine_retention(const BrokerStats& stats, Findings& findings) {
    std::vector<std::string> names;
    for (const TopicStats& topic : stats.topics) {
        if (has_retention(topic) || has_let_go_by_age(topic))
            names.push_back(topic.name);
    }
    if (names.empty())
        return;
    constexpr std::size_t kNamed = 5;
    const std::string others = names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : "";
    names.resize(std::min(names.size(), kNamed));
    Finding& finding = findings.emplace_back(
        make_finding("retention-without-keeper", "the broker",
                     fmt::format("no keeper runs, and limits that only a keeper keeps are set for topics {}{}",
                                 fmt::join(names, ", "), others)));
    finding.command = "ringmaind -d " + shell_word(stats.directory);
}

void examine_leftovers(const BrokerStats& stats, Findings& findings) {
    const std::uint64_t left = stats.leftovers.total();
    if (left == 0)
        return;
    Finding& finding = findings.emplace_back(
        make_finding("leftovers", "the broker",
                     fmt::format("{} of killed creations and deletions take up memory", counted(left, "leftover"))));
    finding.command = ringmain_command(stats, "doctor --fix");
}

void examine_rights(const Examined& examined, Findings& findings) {
    for (const Surroundings::TopicRights& rights : examined.surroundings.keeper_cannot_write) {
        Finding& finding = findings.emplace_back(
            make_finding("keeper-cannot-write", fmt::format("topic '{}'", rights.topic),
                         fmt::format("the keeper ({}) may not write {} of it, so that nobody cleans up there: {}",
                                     examined.surroundings.keeper_user, counted(rights.files, "file"), rights.first)));
        finding.command = fmt::format("chown -R {} {}", examined.surroundings.keeper_uid,
                                      shell_word(examined.stats.directory + "/topics/" + rights.topic));
    }
}

void examine_stopped(const Examined& examined, Findings& findings) {
    if (!examined.surroundings.keeper_is_stopped)
        return;
    Finding& finding = findings.emplace_back(
        make_finding("keeper-stopped", fmt::format("the keeper (pid {})", examined.stats.keeper.pid),
                     "is stopped by a signal or a debugger: nobody cleans up, and no other keeper can take its place"));
    finding.command = fmt::format("kill -CONT {}", examined.stats.keeper.pid);
}

}  // namespace

void examine_keeper(const Examined& examined, Findings& findings) {
    const BrokerStats& stats = examined.stats;
    examine_rights(examined, findings);
    if (!stats.keeper.running) {
        findings.push_back(
            make_finding("keeper-not-visible", "the broker", "this user may not see whether a keeper runs"));
        return;
    }
    if (*stats.keeper.running) {
        examine_stopped(examined, findings);
        return;  // else it is at it
    }
    examine_waiting(stats, findings);
    examine_retention(stats, findings);
    examine_leftovers(stats, findings);
    if (!examined.surroundings.socket_without_daemon)
        return;
    Finding& finding = findings.emplace_back(make_finding("stale-socket", stats.directory + "/keeper.sock",
                                                          "nobody listens on it: the daemon that made it is gone"));
    finding.command = ringmain_command(stats, "doctor --fix");
}

}  // namespace ringmain::cli
