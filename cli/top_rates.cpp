// What changed between two looks, and what did not.
#include "top_rates.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "group_report.hpp"
#include "numbers.hpp"
#include "queue_report.hpp"
#include "ringmain/dead_letters.hpp"
#include "stats_report.hpp"

namespace ringmain::cli {

namespace {

/// The same topic in the earlier look; one of the same name that was created anew is another.
const TopicStats* find(const BrokerStats& before, const TopicStats& topic) {
    const auto found = std::find_if(before.topics.begin(), before.topics.end(), [&](const TopicStats& one) {
        return one.name == topic.name && one.description.id == topic.description.id &&
               one.partitions.size() == topic.partitions.size();
    });
    return found == before.topics.end() ? nullptr : &*found;
}

template <class Description>
const Description* find_in(const std::vector<Description>& all, const Description& wanted) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Description& one) { return one.name == wanted.name; });
    return found == all.end() || found->partitions.size() != wanted.partitions.size() ? nullptr : &*found;
}

const GroupDescription* find(const TopicStats* topic, const GroupDescription& group) {
    return topic == nullptr ? nullptr : find_in(topic->groups, group);
}

const QueueStats* find(const TopicStats* topic, const QueueStats& queue) {
    return topic == nullptr ? nullptr : find_in(topic->queues, queue);
}

/// What grows; 0 if it did not.
double rate(std::uint64_t from, std::uint64_t to, double seconds) noexcept {
    return seconds > 0 && to > from ? static_cast<double>(to - from) / seconds : 0;
}

/// What may also shrink.
double change(std::uint64_t from, std::uint64_t to, double seconds) noexcept {
    return seconds > 0 ? (static_cast<double>(to) - static_cast<double>(from)) / seconds : 0;
}

bool is_readable(const PartitionStats& partition) noexcept {
    return partition.error.empty() && partition.damage.empty();
}

std::uint64_t lag_of(const GroupDescription& group) { return totals_of(group).records; }

const GroupDescription* furthest_behind(const TopicStats& topic) {
    const auto found =
        std::max_element(topic.groups.begin(), topic.groups.end(),
                         [](const GroupDescription& a, const GroupDescription& b) { return lag_of(a) < lag_of(b); });
    return found == topic.groups.end() ? nullptr : &*found;
}

PartitionRates rates_of(const TopicStats* before, const TopicStats& now, std::size_t partition, double seconds) {
    PartitionRates rates;
    rates.topic = &now;
    rates.partition = &now.partitions[partition];
    for (const GroupDescription& group : now.groups)
        rates.lag = std::max(rates.lag, group.partitions.at(partition).lag.records);
    if (before == nullptr || !is_readable(before->partitions[partition]) || !is_readable(now.partitions[partition]))
        return rates;
    rates.records_per_s = rate(before->partitions[partition].log_end, rates.partition->log_end, seconds);
    rates.bytes_per_s = rates.records_per_s * static_cast<double>(rates.partition->newest_record_bytes);
    rates.gaps_per_s = rate(before->partitions[partition].gaps, rates.partition->gaps, seconds);
    return rates;
}

TopicRates rates_of(const TopicStats* before, const TopicStats& now, double seconds) {
    TopicRates rates;
    rates.topic = &now;
    for (std::size_t i = 0; i < now.partitions.size(); ++i) {
        const PartitionRates partition = rates_of(before, now, i, seconds);
        rates.records_per_s += partition.records_per_s;
        rates.bytes_per_s += partition.bytes_per_s;
    }
    if (const GroupDescription* const last = furthest_behind(now)) {
        rates.lag = lag_of(*last);
        if (const GroupDescription* const then = find(before, *last))
            rates.lag_per_s = change(lag_of(*then), rates.lag, seconds);
    }
    return rates;
}

GroupRates rates_of(const GroupDescription* before, const GroupDescription& now, double seconds) {
    GroupRates rates;
    rates.group = &now;
    rates.lag = lag_of(now);
    if (before == nullptr)
        return rates;
    rates.lag_per_s = change(lag_of(*before), rates.lag, seconds);
    for (std::size_t i = 0; i < now.partitions.size(); ++i) {
        rates.commits_per_s += rate(before->partitions[i].commits, now.partitions[i].commits, seconds);
        rates.records_per_s += rate(before->partitions[i].lag.position, now.partitions[i].lag.position, seconds);
    }
    return rates;
}

QueueRates rates_of(const QueueStats* before, const QueueStats& now, double seconds) {
    QueueRates rates;
    rates.queue = &now;
    rates.lag = totals_of(now).records;
    if (before == nullptr)
        return rates;
    rates.lag_per_s = change(totals_of(*before).records, rates.lag, seconds);
    for (std::size_t i = 0; i < now.partitions.size(); ++i)
        rates.records_per_s += rate(before->partitions[i].lag.position, now.partitions[i].lag.position, seconds);
    rates.redelivered_per_s = rate(totals_of(*before).redelivered, totals_of(now).redelivered, seconds);
    return rates;
}

void add_open_tickets(const TopicStats& before, const TopicStats& now, std::vector<std::string>& all) {
    for (std::size_t i = 0; i < now.partitions.size(); ++i) {
        for (const ProducerStats& producer : now.partitions[i].attached) {
            if (!producer.first_ticket)
                continue;
            const auto& then = before.partitions[i].attached;
            const bool same = std::any_of(then.begin(), then.end(), [&](const ProducerStats& one) {
                return one.slot == producer.slot && one.client.incarnation == producer.client.incarnation &&
                       one.first_ticket == producer.first_ticket;
            });
            if (same)
                all.push_back(fmt::format("{} partition {}: ticket {} is open, {}", now.name, i, *producer.first_ticket,
                                          to_string(producer.client)));
        }
    }
}

void add_group(const GroupDescription& before, const GroupDescription& now, std::vector<std::string>& all) {
    for (std::size_t i = 0; i < now.partitions.size(); ++i) {
        const GroupPartitionDescription& then = before.partitions[i];
        const GroupPartitionDescription& partition = now.partitions[i];
        if (then.lag.records == 0 || partition.lag.records == 0 || then.lag.position != partition.lag.position ||
            then.commits != partition.commits)
            continue;
        all.push_back(fmt::format("{} partition {}: group '{}' does not commit, {} behind", now.topic, i,
                                  printable(now.name), counted(partition.lag.records, "record")));
    }
}

/// Of all groups, or all queues.
template <class Rates, class One>
std::vector<Rates> rates_of_all(const BrokerStats& before, const BrokerStats& now, std::vector<One> TopicStats::*ones) {
    const double seconds = seconds_between(before, now);
    std::vector<Rates> all;
    for (const TopicStats& topic : now.topics) {
        for (const One& one : topic.*ones)
            all.push_back(rates_of(find(find(before, topic), one), one, seconds));
    }
    return all;
}

}  // namespace

double seconds_between(const BrokerStats& before, const BrokerStats& now) noexcept {
    return static_cast<double>(std::max<std::int64_t>(now.taken_monotonic_ns - before.taken_monotonic_ns, 0)) / 1e9;
}

std::vector<TopicRates> topic_rates(const BrokerStats& before, const BrokerStats& now) {
    const double seconds = seconds_between(before, now);
    std::vector<TopicRates> all;
    for (const TopicStats& topic : now.topics)
        all.push_back(rates_of(find(before, topic), topic, seconds));
    return all;
}

std::vector<PartitionRates> partition_rates(const BrokerStats& before, const BrokerStats& now) {
    const double seconds = seconds_between(before, now);
    std::vector<PartitionRates> all;
    for (const TopicStats& topic : now.topics) {
        for (std::size_t i = 0; i < topic.partitions.size(); ++i)
            all.push_back(rates_of(find(before, topic), topic, i, seconds));
    }
    return all;
}

std::vector<GroupRates> group_rates(const BrokerStats& before, const BrokerStats& now) {
    return rates_of_all<GroupRates>(before, now, &TopicStats::groups);
}

std::vector<QueueRates> queue_rates(const BrokerStats& before, const BrokerStats& now) {
    return rates_of_all<QueueRates>(before, now, &TopicStats::queues);
}

std::vector<std::string> stalls(const BrokerStats& before, const BrokerStats& now) {
    std::vector<std::string> all;
    for (const ClientStats& client : now.clients) {
        if (client.process == ProcessState::stopped)
            all.push_back(fmt::format("{} is stopped, and holds {}", name_of(client), counted(client.held(), "place")));
    }
    if (seconds_between(before, now) == 0)
        return all;
    for (const TopicStats& topic : now.topics) {
        const TopicStats* const then = find(before, topic);
        if (then == nullptr)
            continue;
        add_open_tickets(*then, topic, all);
        for (const GroupDescription& group : topic.groups) {
            if (group.name == kDeadLettersGroup)
                continue;  // letters wait for somebody's decision, as they should
            if (const GroupDescription* const earlier = find(then, group))
                add_group(*earlier, group, all);
        }
    }
    return all;
}

}  // namespace ringmain::cli
