// Queues as they are at this moment.
#include "queue_reader.hpp"

#include <memory>

#include "platform/clock.hpp"
#include "queue_opening.hpp"
#include "queue_options.hpp"
#include "work_settings.hpp"
#include "work_table/workers.hpp"

namespace ringmain {

namespace {

using Memory = platform::HostMemory;
using Slot = layout::WorkerSlot<Memory>;

/// Relaxed: for show.
std::uint64_t figure(const Memory::Atomic<std::uint64_t>& word) noexcept { return word.load(std::memory_order_relaxed); }

WorkerDescription describe_worker(const Slot& worker) {
    WorkerDescription description;
    description.max_in_flight = static_cast<std::uint32_t>(figure(worker.in_flight_max));
    const std::uint64_t since_ns = figure(worker.since_ns);
    description.since_ns = since_ns > INT64_MAX ? 0 : static_cast<std::int64_t>(since_ns);
    description.acquired = figure(worker.acquired);
    description.acked = figure(worker.acked);
    description.nacked = figure(worker.nacked);
    description.released = figure(worker.released);
    description.rejected = figure(worker.rejected);
    description.renewed = figure(worker.renewed);
    description.refused = figure(worker.refused);
    return description;
}

}  // namespace

WorkFiles& QueueReader::files(AdminTopic& topic, std::string_view queue) {
    const group_table::GroupRef group = require_queue(topic.files(), queue);
    const auto key = std::pair(topic.name(), std::string(queue));
    const auto known = open_.find(key);
    const bool same = known != open_.end() && known->second.group() == group && known->second.handle() == topic.handle();
    if (same) return known->second;
    if (known != open_.end()) open_.erase(known);
    return open_.emplace(key, open_queue(topic.handle(), queue, platform::Access::read_only)).first->second;
}

work_table::WorkMemory<Memory> QueueReader::words(AdminTopic& topic, WorkFiles& work, std::uint32_t partition) {
    const AdminTopic::Log& log = topic.log(partition);
    const WorkFiles::Part* part = &work.part(partition);
    if (part->geometry.generation != work.generation_now(partition)) part = &work.reopen(partition);
    return {part->base, part->geometry, topic.groups(), log};
}

void QueueReader::forget(std::string_view topic) {
    std::erase_if(open_, [&](const auto& one) { return one.first.first == topic; });
}

QueueDescription QueueReader::describe(AdminTopic& topic, std::string_view queue, const LagOptions& lag) {
    WorkFiles& work = files(topic, queue);
    QueueDescription description;
    description.topic = topic.name();
    description.name = queue;
    description.options = options_of(work);
    description.dead_letter_topic = letters_name(work.settings());
    description.dead_letters_gone = groups_.letters_gone(work.settings());
    const auto held = std::make_unique<HeldByWorker>();
    for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition)
        description.partitions.push_back(describe_partition(topic, work, partition, lag, *held));
    description.workers = describe_workers(work, *held);
    return description;
}

QueuePartitionDescription QueueReader::describe_partition(AdminTopic& topic, WorkFiles& work, std::uint32_t partition, const LagOptions& lag,
                                                          HeldByWorker& held) const {
    for (;;) {
        const auto words = QueueReader::words(topic, work, partition);
        const HeldByWorker before = held;
        QueuePartitionDescription description;
        description.lag = lag_in(topic, work.group().slot, partition, lag, platform::realtime_ns());
        group_table::PartitionWord place;
        const bool whole = words.current(place);
        description.generation = place.generation;
        description.gates = place.gates;
        if (!description.lag.damaged) survey(words, platform::shared_monotonic_ms(), description, held);
        if ((whole && words.current()) || work.gone()) return description;
        held = before;  // reset meanwhile: what was read is of two times
    }
}

std::vector<WorkerDescription> QueueReader::describe_workers(const WorkFiles& work, const HeldByWorker& held) const {
    std::vector<WorkerDescription> workers;
    const work_table::Workers<Memory> slots(work.workers(), layout::kWorkersMax);
    for (std::uint32_t slot = 0; slot < slots.count(); ++slot) {
        const std::uint64_t owner = slots.owner(slot);
        if (owner == 0) continue;
        WorkerDescription worker = describe_worker(slots.slot(slot));
        worker.slot = slot;
        worker.client = groups_.client_of(owner);
        worker.in_flight = held[slot];
        workers.push_back(std::move(worker));
    }
    return workers;
}

}  // namespace ringmain
