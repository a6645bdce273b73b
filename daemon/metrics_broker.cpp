// The metrics of a broker's topics, partitions, groups, queues and clients.
#include "metrics_broker.hpp"

#include <algorithm>
#include <array>

namespace ringmain::daemon {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMsPerSecond = 1e3;
constexpr auto kCounter = MetricKind::counter;
constexpr auto kGauge = MetricKind::gauge;

double number(std::uint64_t value) noexcept { return static_cast<double>(value); }
double seconds(std::int64_t ns) noexcept { return static_cast<double>(ns) / kNsPerSecond; }

constexpr const char* kOfPartition = "topic, partition";
const std::array kPartitionMetrics = {
    MetricOf<PartitionStats>{
        {"ringmain_partition_log_start_offset", kGauge, kOfPartition, "Oldest offset that is kept."},
        [](const PartitionStats& p) { return number(p.log_start); }},
    MetricOf<PartitionStats>{
        {"ringmain_partition_log_end_offset", kGauge, kOfPartition, "Next offset that a producer gets."},
        [](const PartitionStats& p) { return number(p.log_end); }},
    MetricOf<PartitionStats>{
        {"ringmain_partition_appended_records_total", kCounter, kOfPartition,
         "Offsets that producers took since the topic was created, those of closed tickets among them."},
        nullptr},  // needs the topic
    MetricOf<PartitionStats>{
        {"ringmain_partition_records", kGauge, kOfPartition, "Offsets in the log, those of closed tickets among them."},
        [](const PartitionStats& p) { return number(p.records); }},
    MetricOf<PartitionStats>{{"ringmain_partition_record_bytes", kGauge, kOfPartition,
                              "Keys, values and headers of the records in the log; extrapolated from some of them."},
                             [](const PartitionStats& p) { return number(p.record_bytes); }},
    MetricOf<PartitionStats>{{"ringmain_partition_file_bytes", kGauge, kOfPartition, "Shared memory of the partition."},
                             [](const PartitionStats& p) { return number(p.file_bytes); }},
    MetricOf<PartitionStats>{{"ringmain_partition_oldest_record_timestamp_seconds", kGauge, kOfPartition,
                              "Timestamp of the oldest record, since the Unix epoch; 0: there is none."},
                             [](const PartitionStats& p) { return seconds(p.oldest_ns); }},
    MetricOf<PartitionStats>{{"ringmain_partition_newest_record_timestamp_seconds", kGauge, kOfPartition,
                              "Timestamp of the newest record, since the Unix epoch; 0: there is none."},
                             [](const PartitionStats& p) { return seconds(p.newest_ns); }},
    MetricOf<PartitionStats>{{"ringmain_partition_closed_tickets_total", kCounter, kOfPartition,
                              "Tickets of producers that stopped or died inside publish."},
                             [](const PartitionStats& p) { return number(p.closed_tickets); }},
    MetricOf<PartitionStats>{{"ringmain_partition_open_tickets", kGauge, kOfPartition,
                              "Offsets that producers took and have not decided yet."},
                             [](const PartitionStats& p) { return number(p.open_tickets); }},
    MetricOf<PartitionStats>{{"ringmain_partition_quarantined_cells", kGauge, kOfPartition,
                              "Cells that sit out until their late writer is heard of or proven dead."},
                             [](const PartitionStats& p) { return number(p.quarantined_cells); }},
    MetricOf<PartitionStats>{{"ringmain_partition_released_cells_total", kCounter, kOfPartition,
                              "Cells that have come back from quarantine."},
                             [](const PartitionStats& p) { return number(p.released_cells); }},
    MetricOf<PartitionStats>{{"ringmain_partition_gaps_total", kCounter, kOfPartition, "Gap events, over all readers."},
                             [](const PartitionStats& p) { return number(p.gaps); }},
    MetricOf<PartitionStats>{
        {"ringmain_partition_lost_records_total", kCounter, kOfPartition, "Records that readers missed by gaps."},
        [](const PartitionStats& p) { return number(p.lost_records); }},
    MetricOf<PartitionStats>{{"ringmain_partition_producers", kGauge, kOfPartition, "Producers that are attached."},
                             [](const PartitionStats& p) { return number(p.attached.size()); }},
    MetricOf<PartitionStats>{
        {"ringmain_partition_exclusive", kGauge, kOfPartition, "1: a producer has the partition for itself alone."},
        [](const PartitionStats& p) { return p.exclusive ? 1.0 : 0.0; }},
    MetricOf<PartitionStats>{
        {"ringmain_partition_producer_names", kGauge, kOfPartition, "Names of producers that are given away."},
        [](const PartitionStats& p) { return number(p.producer_names); }},
    MetricOf<PartitionStats>{
        {"ringmain_partition_reaped_producers_total", kCounter, kOfPartition, "Producers that were found dead."},
        [](const PartitionStats& p) { return number(p.reaped_producers); }},
    MetricOf<PartitionStats>{
        {"ringmain_partition_gates", kGauge, kOfPartition, "Readers that hold a gate of their own."},
        [](const PartitionStats& p) { return number(p.gates.size()); }},
};
constexpr MetricInfo kDamaged{"ringmain_partition_damaged", kGauge, kOfPartition,
                              "1: its file contradicts itself or cannot be read; nothing else is said of it then."};
[[nodiscard]] bool is_sound(const PartitionStats& partition) noexcept {
    return partition.damage.empty() && partition.error.empty();
}

constexpr MetricInfo kExtents{"ringmain_partition_extents", kGauge, "topic, partition, state",
                              "Extents of payload memory: free, owned by a producer, or sealed."};

constexpr const char* kOfGroup = "topic, group, partition";
const std::array kGroupMetrics = {
    MetricOf<GroupPartitionDescription>{{"ringmain_group_committed_offset", kGauge, kOfGroup, "Next offset to read."},
                                        [](const GroupPartitionDescription& p) { return number(p.lag.position); }},
    MetricOf<GroupPartitionDescription>{{"ringmain_group_lag_records", kGauge, kOfGroup, "Offsets still to be read."},
                                        [](const GroupPartitionDescription& p) { return number(p.lag.records); }},
    MetricOf<GroupPartitionDescription>{
        {"ringmain_group_lag_bytes", kGauge, kOfGroup,
         "Keys, values and headers still to be read; extrapolated from some of them."},
        [](const GroupPartitionDescription& p) { return number(p.lag.bytes.value_or(0)); }},
    MetricOf<GroupPartitionDescription>{
        {"ringmain_group_lag_seconds", kGauge, kOfGroup,
         "How old the oldest unread record is, by its timestamp; 0: there is none."},
        [](const GroupPartitionDescription& p) {
            return static_cast<double>(p.lag.time.value_or(std::chrono::milliseconds(0)).count()) / kMsPerSecond;
        }},
    MetricOf<GroupPartitionDescription>{{"ringmain_group_lost_records", kGauge, kOfGroup,
                                         "Offsets that were not committed and are no longer there; not in the lag."},
                                        [](const GroupPartitionDescription& p) { return number(p.lag.lost); }},
    MetricOf<GroupPartitionDescription>{{"ringmain_group_commits_total", kCounter, kOfGroup, "Commits."},
                                        [](const GroupPartitionDescription& p) { return number(p.commits); }},
    MetricOf<GroupPartitionDescription>{{"ringmain_group_fenced_commits_total", kCounter, kOfGroup,
                                         "Commits that were refused because another member had taken over."},
                                        [](const GroupPartitionDescription& p) { return number(p.fenced); }},
    MetricOf<GroupPartitionDescription>{
        {"ringmain_group_handovers_total", kCounter, kOfGroup,
         "Times that the partition went to another member: what rebalances there were."},
        [](const GroupPartitionDescription& p) { return number(p.handovers); }},
    MetricOf<GroupPartitionDescription>{
        {"ringmain_group_gates", kGauge, kOfGroup, "1: the log start waits for the group here."},
        [](const GroupPartitionDescription& p) { return p.gates ? 1.0 : 0.0; }},
};
constexpr MetricInfo kGroupMembers{"ringmain_group_members", kGauge, "topic, group", "Members of the group."};

constexpr const char* kOfQueue = "topic, queue, partition";
const std::array kQueueMetrics = {
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_lag_records", kGauge, kOfQueue, "Offsets from the first that is not finished to the log end."},
        [](const QueuePartitionDescription& p) { return number(p.lag.records); }},
    MetricOf<QueuePartitionDescription>{{"ringmain_queue_available_records", kGauge, kOfQueue, "Records to be had now."},
                                        [](const QueuePartitionDescription& p) { return number(p.available); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_delayed_records", kGauge, kOfQueue, "Records to be had later: back-off, delay."},
        [](const QueuePartitionDescription& p) { return number(p.delayed); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_acquired_records", kGauge, kOfQueue,
         "Records that workers hold, those among them whose lock ran out and that nobody has taken yet."},
        [](const QueuePartitionDescription& p) { return number(p.acquired); }},
    MetricOf<QueuePartitionDescription>{{"ringmain_queue_lock_over_records", kGauge, kOfQueue,
                                         "Acquired records whose lock ran out."},
                                        [](const QueuePartitionDescription& p) { return number(p.lock_over); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_ending_records", kGauge, kOfQueue,
         "Records on their way to the dead letters, or waiting for room there."},
        [](const QueuePartitionDescription& p) { return number(p.ending); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_finished_records", kGauge, kOfQueue, "Finished records in the lag: before them one is not."},
        [](const QueuePartitionDescription& p) { return number(p.finished); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_beyond_window_records", kGauge, kOfQueue,
         "Records to be had once the first one of the window is finished."},
        [](const QueuePartitionDescription& p) { return number(p.beyond_window); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_expired_locks_total", kCounter, kOfQueue, "Locks that ran out and were taken from their holder."},
        [](const QueuePartitionDescription& p) { return number(p.expired); }},
    MetricOf<QueuePartitionDescription>{{"ringmain_queue_returned_records_total", kCounter, kOfQueue,
                                         "Records taken back from dead workers."},
                                        [](const QueuePartitionDescription& p) { return number(p.returned); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_redelivered_records_total", kCounter, kOfQueue, "Deliveries that were not a record's first."},
        [](const QueuePartitionDescription& p) { return number(p.redelivered); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_dead_letters_total", kCounter, kOfQueue, "Records that went to the dead-letter topic."},
        [](const QueuePartitionDescription& p) { return number(p.dead_lettered); }},
    MetricOf<QueuePartitionDescription>{{"ringmain_queue_skipped_records_total", kCounter, kOfQueue,
                                         "Records that were given up without a dead letter."},
                                        [](const QueuePartitionDescription& p) { return number(p.skipped); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_lost_records_total", kCounter, kOfQueue, "Records that went before they were finished."},
        [](const QueuePartitionDescription& p) { return number(p.lost); }},
    MetricOf<QueuePartitionDescription>{
        {"ringmain_queue_refused_letters_total", kCounter, kOfQueue,
         "Times that the dead-letter topic was full or refused; the records wait."},
        [](const QueuePartitionDescription& p) { return number(p.letters_refused); }},
};
constexpr MetricInfo kQueueWorkers{"ringmain_queue_workers", kGauge, "topic, queue", "Workers of the queue."};
constexpr MetricInfo kQueueDamaged{"ringmain_queue_damaged", kGauge, "topic, queue",
                                   "1: its files cannot be read; nothing else is said of it then."};

const std::array kClientMetrics = {
    MetricOf<ClientStats>{{"ringmain_client_producers", kGauge, "client", "Producer slots that the client holds."},
                          [](const ClientStats& c) { return number(c.producers); }},
    MetricOf<ClientStats>{
        {"ringmain_client_leases", kGauge, "client", "Partitions that the client has for itself alone."},
        [](const ClientStats& c) { return number(c.leases); }},
    MetricOf<ClientStats>{
        {"ringmain_client_open_tickets", kGauge, "client", "Offsets that the client took and has not decided yet."},
        [](const ClientStats& c) { return number(c.open_tickets); }},
    MetricOf<ClientStats>{
        {"ringmain_client_extents", kGauge, "client", "Extents of payload memory that the client holds."},
        [](const ClientStats& c) { return number(c.extents); }},
    MetricOf<ClientStats>{{"ringmain_client_gates", kGauge, "client", "Readers' gates that the client holds."},
                          [](const ClientStats& c) { return number(c.gates); }},
    MetricOf<ClientStats>{
        {"ringmain_client_group_members", kGauge, "client", "Places in consumer groups that the client holds."},
        [](const ClientStats& c) { return number(c.member_slots); }},
    MetricOf<ClientStats>{
        {"ringmain_client_group_partitions", kGauge, "client", "Partitions that the client owns in groups."},
        [](const ClientStats& c) { return number(c.group_partitions); }},
    MetricOf<ClientStats>{{"ringmain_client_workers", kGauge, "client", "Places in work queues that the client holds."},
                          [](const ClientStats& c) { return number(c.workers); }},
    MetricOf<ClientStats>{
        {"ringmain_client_acquired_records", kGauge, "client", "Records of work queues that the client holds."},
        [](const ClientStats& c) { return number(c.acquired_records); }},
};
constexpr MetricInfo kClientInfo{"ringmain_client_info", kGauge, "client, pid, command, state",
                                 "1 for each client: slot-incarnation, pid in its own pid namespace, name, and "
                                 "running, stopped, alive, dead or unknown."};
constexpr MetricInfo kClients{"ringmain_clients", kGauge, "state",
                              "Clients of the broker directory in each of these states."};
const std::array<const char*, 5> kClientStates = {"running", "stopped", "alive", "dead", "unknown"};

const std::array kBrokerMetrics = {
    MetricOf<BrokerStats>{{"ringmain_topics", kGauge, "", "Topics."},
                          [](const BrokerStats& b) { return number(b.topics.size()); }},
    MetricOf<BrokerStats>{
        {"ringmain_topics_unreadable", kGauge, "", "Topics that cannot be read; `ringmain doctor` says why."},
        [](const BrokerStats& b) {
            return number(static_cast<std::uint64_t>(
                std::count_if(b.topics.begin(), b.topics.end(), [](const TopicStats& t) { return !t.error.empty(); })));
        }},
    MetricOf<BrokerStats>{{"ringmain_topics_bytes", kGauge, "", "Shared memory of all topics that can be read."},
                          [](const BrokerStats& b) { return number(b.topics_bytes); }},
    MetricOf<BrokerStats>{{"ringmain_file_system_bytes", kGauge, "",
                           "Size of the file system that the broker directory is on; 0: not known."},
                          [](const BrokerStats& b) { return number(b.file_system.bytes.value_or(0)); }},
    MetricOf<BrokerStats>{{"ringmain_file_system_free_bytes", kGauge, "",
                           "What is free there for the daemon's user; 0 also when it is not known."},
                          [](const BrokerStats& b) { return number(b.file_system.free_bytes.value_or(0)); }},
    MetricOf<BrokerStats>{{"ringmain_leftovers", kGauge, "",
                           "Files and directories of killed creations and deletions that wait to be swept."},
                          [](const BrokerStats& b) { return number(b.leftovers.total()); }},
    MetricOf<BrokerStats>{
        {"ringmain_clients_hidden", kGauge, "", "Clients beyond the 256 that have samples of their own."},
        [](const BrokerStats& b) {
            return number(b.clients.size() > kClientsShown ? b.clients.size() - kClientsShown : 0);
        }},
};

const char* state_of(const ClientStats& client) noexcept {
    if (client.client.state == ClientState::dead)
        return "dead";
    if (client.client.state == ClientState::unknown)
        return "unknown";
    switch (client.process) {
        case ProcessState::running:
            return "running";
        case ProcessState::stopped:
            return "stopped";
        case ProcessState::unknown:
            break;
    }
    return "alive";
}

std::string name_of(const ClientStats& client) {
    return std::to_string(client.client.slot) + "-" + std::to_string(client.client.incarnation);
}

template <class Metrics>
void add_infos(std::vector<MetricInfo>& infos, const Metrics& metrics) {
    for (const auto& metric : metrics)
        infos.push_back(metric.info);
}

/// `each(call)` calls it with every thing and its labels.
template <class Metrics, class Each>
void collect_of(MetricFamilies& families, const Metrics& metrics, const Each& each) {
    for (const auto& metric : metrics) {
        if (metric.value == nullptr)
            continue;
        prometheus::MetricFamily family = family_of(metric.info);
        each([&](const auto& thing, const LabelValues& labels) {
            add_sample(family, metric.info, labels, metric.value(thing));
        });
        families.push_back(std::move(family));
    }
}

template <class Call>
void for_each_partition(const BrokerStats& stats, const Call& call) {
    for (const TopicStats& topic : stats.topics) {
        for (const PartitionStats& partition : topic.partitions)
            call(topic, partition, LabelValues{topic.name, std::to_string(partition.partition)});
    }
}

/// Of what cannot be read nothing is said: a counter that falls to 0 and comes back would count everything anew.
template <class Visit>
void for_each_sound_partition(const BrokerStats& stats, const Visit& visit) {
    for_each_partition(stats, [&](const TopicStats& topic, const PartitionStats& partition, const LabelValues& labels) {
        if (is_sound(partition))
            visit(topic, partition, labels);
    });
}

void collect_damage(MetricFamilies& families, const BrokerStats& stats) {
    prometheus::MetricFamily damaged = family_of(kDamaged);
    for_each_partition(stats, [&](const TopicStats&, const PartitionStats& partition, const LabelValues& labels) {
        add_sample(damaged, kDamaged, labels, is_sound(partition) ? 0.0 : 1.0);
    });
    families.push_back(std::move(damaged));
}

void collect_partitions(MetricFamilies& families, const BrokerStats& stats) {
    collect_of(families, kPartitionMetrics, [&](const auto& add) {
        for_each_sound_partition(stats, [&](const TopicStats&, const PartitionStats& partition,
                                            const LabelValues& labels) { add(partition, labels); });
    });
    for (const auto& metric : kPartitionMetrics) {
        if (metric.value != nullptr)
            continue;
        prometheus::MetricFamily appended = family_of(metric.info);
        for_each_sound_partition(
            stats, [&](const TopicStats& topic, const PartitionStats& partition, const LabelValues& labels) {
                const std::uint64_t first = topic.description.options.first_offset;
                add_sample(appended, metric.info, labels,
                           number(partition.log_end > first ? partition.log_end - first : 0));
            });
        families.push_back(std::move(appended));
    }
    prometheus::MetricFamily extents = family_of(kExtents);
    for_each_sound_partition(stats, [&](const TopicStats&, const PartitionStats& partition, LabelValues labels) {
        labels.emplace_back();
        for (const auto& [state, count] : {std::pair<const char*, std::uint32_t>{"free", partition.extents_free},
                                           {"owned", partition.extents_owned},
                                           {"sealed", partition.extents_sealed}}) {
            labels.back() = state;
            add_sample(extents, kExtents, labels, number(count));
        }
    });
    families.push_back(std::move(extents));
    collect_damage(families, stats);
}

void collect_groups(MetricFamilies& families, const BrokerStats& stats) {
    collect_of(families, kGroupMetrics, [&](const auto& add) {
        for (const TopicStats& topic : stats.topics) {
            for (const GroupDescription& group : topic.groups) {
                for (const GroupPartitionDescription& partition : group.partitions) {
                    if (!partition.lag.damaged)
                        add(partition, LabelValues{topic.name, group.name, std::to_string(partition.lag.partition)});
                }
            }
        }
    });
    prometheus::MetricFamily members = family_of(kGroupMembers);
    for (const TopicStats& topic : stats.topics) {
        for (const GroupDescription& group : topic.groups) {
            const auto count = std::count_if(group.members.begin(), group.members.end(),
                                             [](const auto& member) { return member.in_group; });
            add_sample(members, kGroupMembers, {topic.name, group.name}, static_cast<double>(count));
        }
    }
    families.push_back(std::move(members));
}

template <class Call>
void for_each_queue(const BrokerStats& stats, const Call& call) {
    for (const TopicStats& topic : stats.topics) {
        for (const QueueStats& queue : topic.queues)
            call(queue, LabelValues{topic.name, queue.name});
    }
}

void collect_queues(MetricFamilies& families, const BrokerStats& stats) {
    collect_of(families, kQueueMetrics, [&](const auto& add) {
        for_each_queue(stats, [&](const QueueStats& queue, LabelValues labels) {
            labels.emplace_back();
            for (const QueuePartitionDescription& partition : queue.partitions) {
                labels.back() = std::to_string(partition.lag.partition);
                if (!partition.lag.damaged)
                    add(partition, labels);
            }
        });
    });
    prometheus::MetricFamily workers = family_of(kQueueWorkers);
    prometheus::MetricFamily damaged = family_of(kQueueDamaged);
    for_each_queue(stats, [&](const QueueStats& queue, const LabelValues& labels) {
        add_sample(damaged, kQueueDamaged, labels, queue.error.empty() ? 0.0 : 1.0);
        if (queue.error.empty())
            add_sample(workers, kQueueWorkers, labels, number(queue.workers.size()));
    });
    families.push_back(std::move(workers));
    families.push_back(std::move(damaged));
}

void collect_clients(MetricFamilies& families, const BrokerStats& stats) {
    const std::size_t shown = std::min(stats.clients.size(), kClientsShown);
    collect_of(families, kClientMetrics, [&](const auto& add) {
        for (std::size_t i = 0; i < shown; ++i)
            add(stats.clients[i], LabelValues{name_of(stats.clients[i])});
    });
    prometheus::MetricFamily info = family_of(kClientInfo);
    for (std::size_t i = 0; i < shown; ++i) {
        const ClientStats& client = stats.clients[i];
        add_sample(info, kClientInfo,
                   {name_of(client), std::to_string(client.client.pid), client.command, state_of(client)}, 1);
    }
    families.push_back(std::move(info));
    prometheus::MetricFamily clients = family_of(kClients);
    for (const char* const state : kClientStates) {
        const auto count = std::count_if(stats.clients.begin(), stats.clients.end(), [&](const ClientStats& client) {
            return std::string_view(state_of(client)) == state;
        });
        add_sample(clients, kClients, {state}, static_cast<double>(count));
    }
    families.push_back(std::move(clients));
}

}  // namespace

std::vector<MetricInfo> broker_metrics() {
    std::vector<MetricInfo> infos;
    add_infos(infos, kBrokerMetrics);
    add_infos(infos, kPartitionMetrics);
    infos.push_back(kExtents);
    infos.push_back(kDamaged);
    add_infos(infos, kGroupMetrics);
    infos.push_back(kGroupMembers);
    add_infos(infos, kQueueMetrics);
    infos.push_back(kQueueWorkers);
    infos.push_back(kQueueDamaged);
    add_infos(infos, kClientMetrics);
    infos.push_back(kClientInfo);
    infos.push_back(kClients);
    return infos;
}

MetricFamilies collect_broker(const BrokerStats& stats) {
    MetricFamilies families;
    collect_of(families, kBrokerMetrics, [&](const auto& add) { add(stats, LabelValues{}); });
    collect_partitions(families, stats);
    collect_groups(families, stats);
    collect_queues(families, stats);
    collect_clients(families, stats);
    return families;
}

}  // namespace ringmain::daemon
