// What a reader of statistics keeps open, and what its subjects share.
//
//   stats_reader.cpp            one look: the parts, in order
//   stats_reader_broker.cpp     the directory: file system, keeper, leftovers
//   stats_reader_topics.cpp     topics, groups and queues; which are still the same
//   stats_reader_partition.cpp  a partition: figures, producers
//   stats_reader_clients.cpp    clients, and what they hold
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker_impl.hpp"
#include "group_admin_impl.hpp"
#include "platform/mapping.hpp"
#include "queue_reader.hpp"
#include "ringmain/stats.hpp"

namespace ringmain {

/// How many cells of a partition are quarantined, counted again only when that may have changed: counting looks at
/// every cell.
class QuarantineCount {
public:
    [[nodiscard]] std::uint64_t of(const AdminTopic::Log& log, std::int64_t now_ns) noexcept;

private:
    struct Signs {
        std::uint64_t closings = 0;
        std::uint64_t closings_done = 0;
        std::uint64_t released_cells = 0;
        friend bool operator==(const Signs&, const Signs&) = default;
    };
    Signs signs_;
    std::int64_t counted_ns_ = 0;
    std::uint64_t count_ = 0;
};

class StatsReader::Impl {
public:
    explicit Impl(std::shared_ptr<Broker::Impl> broker) : broker_(broker), groups_(std::move(broker)), queues_(groups_) {}

    [[nodiscard]] BrokerStats take(const StatsOptions& options);

private:
    /// A topic that was looked at before: its files are mapped.
    struct Known {
        std::shared_ptr<const TopicFiles> files;  // to find out that the topic was replaced
        std::vector<QuarantineCount> quarantined;
    };

    [[nodiscard]] FileSystemStats file_system() const;
    [[nodiscard]] KeeperStats keeper() const;
    [[nodiscard]] LeftoverStats leftovers() const;

    [[nodiscard]] std::vector<std::string> names();
    void forget_lost_topics();
    [[nodiscard]] TopicStats look_at_topic(const std::string& name, const StatsOptions& options);
    void fill(TopicStats& stats, const StatsOptions& options);
    [[nodiscard]] std::vector<QueueStats> look_at_queues(AdminTopic& topic, const StatsOptions& options);
    void forget(const std::string& topic);
    [[nodiscard]] PartitionStats look_at_partition(AdminTopic& topic, std::uint32_t partition, Known& known,
                                                   const StatsOptions& options) const;
    [[nodiscard]] std::vector<ProducerStats> attached(const AdminTopic::Log& log) const;

    [[nodiscard]] std::vector<ClientStats> clients(const std::vector<TopicStats>& topics,
                                                   const StatsOptions& options) const;
    void add_details(ClientStats& client, std::uint64_t own_namespace, bool process) const;

    std::shared_ptr<Broker::Impl> broker_;
    GroupAdmin::Impl groups_;  // has the topics open
    QueueReader queues_;       // and the files of their queues
    std::map<std::string, Known, std::less<>> known_;
    std::uint64_t work_leftovers_ = 0;  // of queues, in the topics that were looked at last
};

}  // namespace ringmain
