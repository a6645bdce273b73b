// The examination as a whole, and what its parts share.
#include "doctor_examination.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "group_report.hpp"

namespace ringmain::cli {

namespace {

/// What blocks a topic, if the topic can be read.
void add_holders(GroupAdmin& admin, const std::string& topic, std::vector<LogHolder>& holders) {
    try {
        for (LogHolder& holder : admin.who_blocks(topic))
            holders.push_back(std::move(holder));
    } catch (const Error&) {
        // the look at the topic says why
    }
}

// A topic that cannot be read is found by itself.
void add_letters(const Broker& broker, Examined& examined) {
    DeadLetters letters(broker);
    for (const TopicStats& topic : examined.stats.topics) {
        const bool keeps = std::any_of(topic.groups.begin(), topic.groups.end(),
                                       [](const GroupDescription& group) { return group.name == kDeadLettersGroup; });
        try {
            if (keeps)
                examined.letters.push_back(letters.summarize(topic.name));
        } catch (const Error&) {
            continue;
        }
    }
}

// What cannot be read is found by itself.
void add_retrying(GroupAdmin& admin, const TopicStats& topic, Examined& examined) {
    constexpr LagOptions kOffsetsOnly{.time = false, .bytes_records_max = 0};
    for (const GroupDescription& group : topic.groups) {
        try {
            GroupDescription description = admin.describe(topic.name, group.name, kOffsetsOnly);
            if (description.retries)
                examined.retrying.push_back(std::move(description));
        } catch (const Error&) {
            continue;
        }
    }
}

}  // namespace

Findings examine(const Examined& examined) {
    Findings findings;
    for (const auto part : {examine_topics, examine_blocking, examine_groups, examine_queues, examine_retries, examine_letters, examine_clients, examine_keeper,
                            examine_tables, examine_machine})
        part(examined, findings);
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    return findings;
}

Examined look_at(const Broker& broker, bool with_records) {
    Examined examined;
    StatsReader reader(broker);
    StatsOptions options;
    options.lag.bytes_records_max = 0;
    options.bytes_records_max = 0;
    examined.stats = reader.take(options);
    GroupAdmin admin(broker);
    for (const TopicStats& topic : examined.stats.topics) {
        if (topic.error.empty() && topic.description.options.when_full == WhenFull::block)
            add_holders(admin, topic.name, examined.holders);
        add_retrying(admin, topic, examined);
    }
    add_letters(broker, examined);
    if (with_records)
        examined.damage = broker.verify().damage;
    examined.surroundings = look_around(examined.stats);
    return examined;
}

std::string ringmain_command(const BrokerStats& stats, const std::string& arguments) {
    return fmt::format("ringmain -d {} {}", shell_word(stats.directory), arguments);
}

const ClientStats* find_client(const BrokerStats& stats, const ClientDescription& client) {
    const auto found = std::find_if(stats.clients.begin(), stats.clients.end(), [&](const ClientStats& one) {
        return one.client.slot == client.slot && one.client.incarnation == client.incarnation;
    });
    return found == stats.clients.end() ? nullptr : &*found;
}

std::string describe_client(const ClientStats& client) {
    if (client.command.empty())
        return to_string(client.client);
    return fmt::format("process '{}' (pid {})", printable(client.command), client.client.pid);
}

std::string group_object(const GroupDescription& group) {
    return fmt::format("group '{}' of topic '{}'", printable(group.name), group.topic);
}

}  // namespace ringmain::cli
