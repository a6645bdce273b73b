// Queues as they are at this moment, read from their files, which stay mapped from one look to the next.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "group_admin_impl.hpp"
#include "queue_survey.hpp"
#include "ringmain/queue_admin.hpp"
#include "work_files.hpp"

namespace ringmain {

/// Not thread-safe.
class QueueReader {
public:
    /// `groups` has the topics open, and must outlive this object.
    explicit QueueReader(GroupAdmin::Impl& groups) noexcept : groups_(groups) {}

    /// Throws Error as open_queue and AdminTopic::log.
    [[nodiscard]] QueueDescription describe(AdminTopic& topic, std::string_view queue, const LagOptions& lag);
    /// The files of a queue, opened again if it was deleted and created anew.
    [[nodiscard]] WorkFiles& files(AdminTopic& topic, std::string_view queue);
    /// The words of a partition, of the generation that counts now. Valid until the next call for the partition.
    [[nodiscard]] static work_table::WorkMemory<platform::HostMemory> words(AdminTopic& topic, WorkFiles& work, std::uint32_t partition);
    /// Unmaps all queues of the topic.
    void forget(std::string_view topic);

private:
    [[nodiscard]] QueuePartitionDescription describe_partition(AdminTopic& topic, WorkFiles& work, std::uint32_t partition,
                                                               const LagOptions& lag, HeldByWorker& held) const;
    [[nodiscard]] std::vector<WorkerDescription> describe_workers(const WorkFiles& work, const HeldByWorker& held) const;

    GroupAdmin::Impl& groups_;
    std::map<std::pair<std::string, std::string>, WorkFiles> open_;  // by topic and queue
};

}  // namespace ringmain
