// Topics: files that cannot be used, and fixed tables that are nearly full.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "doctor_examination.hpp"
#include "group_report.hpp"
#include "numbers.hpp"

namespace ringmain::cli {

namespace {

std::string topic_path(const BrokerStats& stats, const std::string& topic) {
    return stats.directory + "/topics/" + topic;
}

std::string_view kind_of(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::corrupt:
            return "damaged";
        case ErrorCode::version_mismatch:
            return "other-version";
        case ErrorCode::permission_denied:
            return "no-rights";
        default:
            return "topic-unreadable";
    }
}

void add_way_out(const BrokerStats& stats, const TopicStats& topic, Finding& finding) {
    const std::string path = shell_word(topic_path(stats, topic.name));
    if (finding.id == "no-rights") {
        finding.command = fmt::format("ls -l {}", path);
        finding.mends = false;
    } else if (finding.id != "topic-unreadable") {
        // the library cannot delete what it cannot open
        finding.command =
            topic.error.empty() ? ringmain_command(stats, "topic delete " + shell_word(topic.name)) : "rm -r " + path;
        finding.text.append("; what is in it goes with its removal");
    } else {
        finding.command = ringmain_command(stats, "verify " + shell_word(topic.name));
        finding.mends = false;
    }
}

std::int64_t changed_ns(const Examined& examined, const std::string& topic, std::optional<std::uint32_t> partition) {
    for (const Surroundings::FileChange& change : examined.surroundings.damaged_files) {
        if (change.topic == topic && change.partition == partition)
            return change.changed_ns;
    }
    return 0;
}

/// Only the queue goes with its removal: its records are the topic's.
void examine_queue_files(const BrokerStats& stats, const TopicStats& topic, const QueueStats& queue, Findings& findings) {
    if (queue.error.empty() || queue.error_code == ErrorCode::not_ready)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        kind_of(*queue.error_code), fmt::format("queue '{}' of topic '{}'", printable(queue.name), topic.name), queue.error));
    if (finding.id == "no-rights") {
        finding.command = fmt::format("ls -l {}", shell_word(topic_path(stats, topic.name) + "/queues"));
        finding.mends = false;
        return;
    }
    finding.text.append("; what its workers did not finish comes again with a new queue");
    finding.command = ringmain_command(stats, fmt::format("queue delete {} -t {} --force", shell_word(queue.name), shell_word(topic.name)));
}

void examine_topic(const Examined& examined, const TopicStats& topic, Findings& findings) {
    const BrokerStats& stats = examined.stats;
    const std::string object = fmt::format("topic '{}'", topic.name);
    if (!topic.error.empty() && topic.error_code != ErrorCode::not_ready) {
        Finding& finding = findings.emplace_back(make_finding(kind_of(*topic.error_code), object, topic.error));
        if (finding.happened)
            finding.since_ns = changed_ns(examined, topic.name, std::nullopt);
        add_way_out(stats, topic, finding);
    }
    for (const PartitionStats& partition : topic.partitions) {
        if (partition.error.empty())
            continue;
        Finding& finding = findings.emplace_back(make_finding(kind_of(*partition.error_code), object, partition.error));
        finding.object.append(fmt::format(" partition {}", partition.partition));
        if (finding.happened)
            finding.since_ns = changed_ns(examined, topic.name, partition.partition);
        add_way_out(stats, topic, finding);
    }
    for (const QueueStats& queue : topic.queues)
        examine_queue_files(stats, topic, queue, findings);
}

/// One finding a topic, whatever was found in how many of its files.
void examine_damage(const Examined& examined, Findings& findings) {
    for (const TopicStats& topic : examined.stats.topics) {
        const std::string path = topic_path(examined.stats, topic.name) + "/";
        std::vector<std::string> found;
        for (const Damage& damage : examined.damage) {
            if (damage.file.starts_with(path) && topic.error.empty())
                found.push_back(fmt::format("{}: {}", damage.file.substr(path.size()), damage.what));
        }
        for (const PartitionStats& partition : topic.partitions) {
            if (found.empty() && !partition.damage.empty())
                found.push_back(fmt::format("{}.log: {}", partition.partition, partition.damage));
        }
        const bool known = std::any_of(topic.partitions.begin(), topic.partitions.end(),
                                       [](const PartitionStats& partition) { return !partition.error.empty(); }) ||
                           std::any_of(topic.queues.begin(), topic.queues.end(),
                                       [](const QueueStats& queue) { return !queue.error.empty(); });
        if (found.empty() || known)
            continue;
        const std::string others =
            found.size() > 1 ? fmt::format(" ({} more in 'ringmain verify {}')", found.size() - 1, topic.name) : "";
        Finding& finding = findings.emplace_back(
            make_finding("damaged", fmt::format("topic '{}'", topic.name), found.front() + others));
        add_way_out(examined.stats, topic, finding);
    }
}

struct Table {
    std::string_view id;
    std::string object;
    std::string_view noun;
    std::uint64_t used = 0;
    std::uint64_t most = 0;
};

/// 9 in 10, and one of one: full is a warning, nearly full a note.
void examine_table(const Table& table, const std::string& command, bool mends, Findings& findings) {
    if (table.used * 10 < table.most * 9)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        table.id, table.object, fmt::format("{} of {} possible {} are taken", table.used, table.most, table.noun)));
    if (table.used < table.most)
        finding.severity = Severity::note;
    finding.command = command;
    finding.mends = mends;
}

void examine_groups_of(const BrokerStats& stats, const TopicStats& topic, Findings& findings) {
    const std::string object = fmt::format("topic '{}'", topic.name);
    const auto empty = std::find_if(topic.groups.begin(), topic.groups.end(),
                                    [](const GroupDescription& group) { return group.state == GroupState::empty; });
    const std::string word = shell_word(topic.name);
    const std::string command =
        empty == topic.groups.end()
            ? ringmain_command(stats, "group list -t " + word)
            : ringmain_command(stats, fmt::format("group delete {} -t {}", shell_word(empty->name), word));
    examine_table({"groups-full", object, "consumer groups", topic.groups.size(), topic.description.options.groups},
                  command, empty != topic.groups.end(), findings);
    for (const GroupDescription& group : topic.groups) {
        examine_table({"members-full", group_object(group), "places of members", group.members.size(),
                       topic.description.options.members},
                      ringmain_command(stats, fmt::format("group describe {} -t {}", shell_word(group.name), word)),
                      false, findings);
    }
}

void examine_tables_of(const BrokerStats& stats, const TopicStats& topic, const PartitionStats& partition,
                       Findings& findings) {
    const std::string object = fmt::format("topic '{}' partition {}", topic.name, partition.partition);
    const std::string look = ringmain_command(stats, "topic describe " + shell_word(topic.name));
    const bool dead =
        std::any_of(partition.attached.begin(), partition.attached.end(),
                    [](const ProducerStats& producer) { return producer.client.state == ClientState::dead; });
    // an exclusive producer is alone as it should be
    if (!partition.exclusive) {
        examine_table({"producers-full", object, "producer slots", partition.attached.size(),
                       topic.description.options.producer_slots},
                      dead ? ringmain_command(stats, "doctor --fix") : look, dead, findings);
    }
    examine_table({"producer-names-full", object, "names of producers", partition.producer_names, kProducerNamesMax},
                  look, false, findings);
    examine_table({"gates-full", object, "gates", partition.gates.size(), kReaderGatesMax}, look, false, findings);
}

void examine_readers(const Examined& examined, Findings& findings) {
    for (const Surroundings::TopicRights& rights : examined.surroundings.consumers_cannot_read) {
        Finding& finding = findings.emplace_back(
            make_finding("consumers-cannot-read", fmt::format("topic '{}'", rights.topic),
                         fmt::format("the directory is shared with group id {}, which may not read {} of the topic: {}",
                                     examined.surroundings.shared_gid, counted(rights.files, "file"), rights.first)));
        const std::string path = shell_word(topic_path(examined.stats, rights.topic));
        finding.command =
            fmt::format("chgrp -R {} {} && chmod -R g+rX {}", examined.surroundings.shared_gid, path, path);
    }
}

}  // namespace

void examine_topics(const Examined& examined, Findings& findings) {
    for (const TopicStats& topic : examined.stats.topics)
        examine_topic(examined, topic, findings);
    examine_damage(examined, findings);
    examine_readers(examined, findings);
}

void examine_tables(const Examined& examined, Findings& findings) {
    for (const TopicStats& topic : examined.stats.topics) {
        if (!topic.error.empty())
            continue;
        examine_groups_of(examined.stats, topic, findings);
        for (const PartitionStats& partition : topic.partitions)
            examine_tables_of(examined.stats, topic, partition, findings);
    }
}

}  // namespace ringmain::cli
