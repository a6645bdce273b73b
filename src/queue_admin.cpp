// The public QueueAdmin: creating, listing and deleting queues.
#include "ringmain/queue_admin.hpp"

#include <algorithm>
#include <utility>

#include "death_oracle.hpp"
#include "error_about.hpp"
#include "group_table/listing.hpp"
#include "group_table/sweeping.hpp"
#include "partition_log/doorbell.hpp"
#include "platform/futex.hpp"
#include "queue_admin_impl.hpp"
#include "queue_opening.hpp"
#include "queue_options.hpp"
#include "work_creation.hpp"
#include "work_table/workers.hpp"

namespace ringmain {

namespace {

QueueSummary summary_of(const QueueDescription& queue) {
    QueueSummary summary{queue.topic, queue.name, static_cast<std::uint32_t>(queue.workers.size()), 0, 0, 0, 0, 0};
    for (const QueuePartitionDescription& partition : queue.partitions) {
        summary.records += partition.lag.records;
        summary.acquired += partition.acquired;
        summary.delayed += partition.delayed;
        summary.dead_lettered += partition.dead_lettered;
        summary.lost += partition.lost + partition.lag.lost;
    }
    return summary;
}

}  // namespace

void QueueAdmin::Impl::create(std::string_view topic, std::string_view queue, const QueueOptions& options) {
    if (!create_queue(groups_.shared_broker(), groups_.open(topic).handle(), queue, options))
        throw error_about(ErrorCode::already_exists, queue_text(topic, queue), "exists already");
}

bool QueueAdmin::Impl::ensure(std::string_view topic, std::string_view queue, const QueueOptions& options) {
    bool created = false;
    (void)ensure_queue(groups_.shared_broker(), groups_.open(topic).handle(), queue, options, platform::Access::read_only, &created);
    return created;
}

std::vector<QueueSummary> QueueAdmin::Impl::list(std::string_view topic_name) {
    constexpr LagOptions kOffsetsOnly{.time = false, .bytes_records_max = 0};
    std::vector<QueueSummary> all;
    groups_.for_each_topic(topic_name, [&](AdminTopic& topic) {
        for (const group_table::GroupView& group : group_table::view_groups(topic.groups())) {
            if (group.options.kind != group_table::GroupKind::queue) continue;
            try {
                all.push_back(summary_of(reader_.describe(topic, group.name, kOffsetsOnly)));
            } catch (const Error& error) {
                if (error.code() != ErrorCode::not_found) throw;  // else deleted since
            }
        }
    });
    std::sort(all.begin(), all.end(), [](const QueueSummary& a, const QueueSummary& b) { return std::tie(a.topic, a.name) < std::tie(b.topic, b.name); });
    return all;
}

QueueDescription QueueAdmin::Impl::describe(std::string_view topic, std::string_view queue) {
    return reader_.describe(groups_.open(topic), queue, {});
}

void QueueAdmin::Impl::refuse_workers(const WorkFiles& work, std::string_view what) const {
    const DeathOracle is_dead(groups_.broker().clients());
    const work_table::Workers<platform::HostMemory> workers(work.workers(), layout::kWorkersMax);
    std::string names;
    for (std::uint32_t slot = 0; slot < workers.count(); ++slot) {
        const std::uint64_t owner = workers.owner(slot);
        if (owner == 0 || is_dead(owner)) continue;
        const auto client = groups_.client_of(owner);
        names.append(names.empty() ? "" : ", ").append("worker " + std::to_string(slot) + (client ? " (" + to_string(*client) + ")" : ""));
    }
    if (names.empty()) return;
    throw error_about(ErrorCode::busy, queue_text(work.topic().name(), work.name()),
                      "has workers: " + names + "; to " + std::string(what) + " all the same, force it");
}

void QueueAdmin::Impl::remove(std::string_view topic_name, std::string_view queue, bool force) {
    AdminTopic& topic = groups_.open(topic_name);
    const group_table::GroupRef group = require_queue(topic.files(), queue);
    GroupAdmin::Impl::check_writable(topic);
    if (!force) refuse_workers(reader_.files(topic, queue), "delete it");
    (void)group_table::delete_group(topic.groups(), group, true);  // no queue has members
    (void)remove_work(topic.files(), group);                       // what is left, a keeper sweeps
    reader_.forget(topic_name);
    wake_workers(topic.files());
}

void QueueAdmin::Impl::wake_workers(const TopicFiles& topic) noexcept {
    if (!topic.readers_writable()) return;  // they look every now and then
    for (std::uint32_t partition = 0; partition < topic.options().partitions; ++partition) {
        partition_log::Doorbell<platform::HostMemory> bell(*topic.readers(partition));
        if (bell.take_sleepers()) platform::futex_wake_all(*bell.futex_word());
    }
}

QueueAdmin::QueueAdmin(const Broker& broker) : impl_(std::make_unique<Impl>(broker.impl())) {}
QueueAdmin::QueueAdmin(QueueAdmin&&) noexcept = default;
QueueAdmin& QueueAdmin::operator=(QueueAdmin&&) noexcept = default;
QueueAdmin::~QueueAdmin() = default;

void QueueAdmin::create(std::string_view topic, std::string_view queue, const QueueOptions& options) { impl_->create(topic, queue, options); }
bool QueueAdmin::ensure(std::string_view topic, std::string_view queue, const QueueOptions& options) {
    return impl_->ensure(topic, queue, options);
}
std::vector<QueueSummary> QueueAdmin::list(std::string_view topic) { return impl_->list(topic); }
QueueDescription QueueAdmin::describe(std::string_view topic, std::string_view queue) { return impl_->describe(topic, queue); }
void QueueAdmin::remove(std::string_view topic, std::string_view queue, bool force) { impl_->remove(topic, queue, force); }
ResetPlan QueueAdmin::plan(std::string_view topic, std::string_view queue, const ResetTarget& target) { return impl_->plan(topic, queue, target); }
std::vector<PartitionResetDone> QueueAdmin::execute(const ResetPlan& plan, bool force) { return impl_->execute(plan, force); }

}  // namespace ringmain
