// Who is attached, and what each holds in the topics that were looked at.
#include <utility>

#include "platform/process.hpp"
#include "stats_reader_impl.hpp"

namespace ringmain {

namespace {

/// By slot and incarnation: a slot's dead clients may hold things beside its live one.
class Holders {
public:
    ClientStats& of(const ClientDescription& client) {
        ClientStats& stats = all_[{client.slot, client.incarnation}];
        stats.client = client;
        return stats;
    }

    void add(const PartitionStats& partition) {
        for (const ProducerStats& producer : partition.attached) {
            ClientStats& client = of(producer.client);
            ++client.producers;
            client.leases += producer.exclusive ? 1 : 0;
            client.open_tickets += producer.open_tickets;
            client.extents += producer.extents;
        }
        for (const GateDescription& gate : partition.gates)
            ++of(gate.holder).gates;
    }

    void add(const GroupDescription& group) {
        for (const GroupMemberDescription& member : group.members) {
            if (!member.client)
                continue;
            ClientStats& client = of(*member.client);
            ++client.member_slots;
            client.group_partitions += member.partitions.size();
        }
    }

    void add(const QueueDescription& queue) {
        for (const WorkerDescription& worker : queue.workers) {
            if (!worker.client)
                continue;
            ClientStats& client = of(*worker.client);
            ++client.workers;
            client.acquired_records += worker.in_flight;
        }
    }

    [[nodiscard]] std::vector<ClientStats> take() {
        std::vector<ClientStats> list;
        for (auto& [id, client] : all_)
            list.push_back(std::move(client));
        return list;
    }

private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, ClientStats> all_;
};

}  // namespace

std::vector<ClientStats> StatsReader::Impl::clients(const std::vector<TopicStats>& topics,
                                                    const StatsOptions& options) const {
    Holders holders;
    const client_table::ClientTable& table = broker_->clients();
    for (std::uint32_t slot = 0; slot < layout::kClientsMax; ++slot) {
        const auto id = table.last_of(slot);
        if (!id)
            continue;
        const ClientDescription client = table.describe(*id);
        if (client.state == ClientState::alive)
            holders.of(client);
    }
    for (const TopicStats& topic : topics) {
        for (const PartitionStats& partition : topic.partitions)
            holders.add(partition);
        for (const GroupDescription& group : topic.groups)
            holders.add(group);
        for (const QueueStats& queue : topic.queues)
            holders.add(queue);
    }
    std::vector<ClientStats> all = holders.take();
    const std::uint64_t own_namespace = platform::this_process().pid_namespace;
    for (ClientStats& client : all)
        add_details(client, own_namespace, options.processes);
    return all;
}

void StatsReader::Impl::add_details(ClientStats& client, std::uint64_t own_namespace, bool process) const {
    const auto details = broker_->clients().details({client.client.slot, client.client.incarnation});
    if (!details)
        return;
    client.since_ns = details->since_ns > INT64_MAX ? 0 : static_cast<std::int64_t>(details->since_ns);
    client.same_pid_namespace = own_namespace != 0 && details->process.pid_namespace == own_namespace;
    if (!process || !client.same_pid_namespace || client.client.state != ClientState::alive)
        return;
    const auto look = platform::look_at_process(static_cast<std::uint32_t>(client.client.pid), details->process.start_ticks);
    if (!look)
        return;
    client.process = look->stopped ? ProcessState::stopped : ProcessState::running;
    client.command = look->command.data();
}

}  // namespace ringmain
