// What the administration of queues keeps open, and what its subjects share.
//
//   queue_admin.cpp           creating, listing, deleting
//   queue_admin_reset.cpp     resets
//   queue_reader.cpp          descriptions
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "group_admin_impl.hpp"
#include "queue_reader.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain {

class QueueAdmin::Impl {
public:
    explicit Impl(std::shared_ptr<Broker::Impl> broker) : groups_(std::move(broker)), reader_(groups_) {}

    void create(std::string_view topic, std::string_view queue, const QueueOptions& options);
    bool ensure(std::string_view topic, std::string_view queue, const QueueOptions& options);
    [[nodiscard]] std::vector<QueueSummary> list(std::string_view topic);
    [[nodiscard]] QueueDescription describe(std::string_view topic, std::string_view queue);
    void remove(std::string_view topic, std::string_view queue, bool force);
    [[nodiscard]] ResetPlan plan(std::string_view topic, std::string_view queue, const ResetTarget& target);
    std::vector<PartitionResetDone> execute(const ResetPlan& plan, bool force);

private:
    /// Workers that are proven dead need not be waited for. Throws Error busy (names the others).
    void refuse_workers(const WorkFiles& work, std::string_view what) const;
    /// Decides dead letters of the partition that are under way. Throws Error busy if there are always more.
    void finish_letters(AdminTopic& topic, WorkFiles& work, std::uint32_t partition) const;
    void retire_words(AdminTopic& topic, WorkFiles& work, std::uint32_t partition) const;
    [[nodiscard]] PartitionResetDone reset_partition(AdminTopic& topic, WorkFiles& work, const PartitionReset& one, bool gating);
    /// Workers that sleep until there is something to do look again.
    static void wake_workers(const TopicFiles& topic) noexcept;

    GroupAdmin::Impl groups_;  // has the topics open
    QueueReader reader_;
};

}  // namespace ringmain
