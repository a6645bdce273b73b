// One partition of a queue in the hands of one worker.
#include "queue_partition.hpp"

#include <algorithm>

#include "error_about.hpp"
#include "platform/clock.hpp"
#include "work_table/boots.hpp"

namespace ringmain {

std::uint64_t work_clock_ms() noexcept { return platform::shared_monotonic_ms() & work_table::kClockMask; }

WorkTime work_time_now() noexcept {
    return {work_clock_ms(), platform::realtime_coarse_ns(), platform::ticks()};
}

QueuePartition::QueuePartition(WorkFiles& files, std::uint32_t partition, const work_table::WorkRules& rules, std::uint32_t slot,
                               DeadLetterLogs& letters, WorkBatch& batch)
    : files_(files),
      rules_(rules),
      slot_(slot),
      cursor_(files.handle(), partition),
      letters_(letters, partition, cursor_.reader()),
      records_(cursor_.log(), files.topic().name(), partition, batch) {
    check_sound(cursor_);
    bind(files_.part_now(partition));
}

void QueuePartition::bind(const WorkFiles::Part& part) {
    const work_table::WorkMemory<Memory> work(part.base, part.geometry, files_.topic().groups(), cursor_.log());
    work_table::begin_boot(work, platform::shared_boot_hash(), work_clock_ms());
    generation_ = part.geometry.generation;
    bound_.emplace(Bound{work, {work, rules_, letters_, slot_}, {work, rules_, letters_, slot_}});
}

Status QueuePartition::rebind() {
    if (cursor_.deleted()) return Status::topic_deleted;
    if (!files_.topic().groups_whole()) return Status::corrupt;  // of which nothing can be said
    if (files_.gone()) return Status::group_deleted;
    try {
        bind(files_.reopen(cursor_.partition()));
        return Status::ok;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::topic_deleted) return Status::topic_deleted;
        return error.code() == ErrorCode::not_found ? Status::group_deleted : Status::corrupt;
    }
}

Status QueuePartition::acquire(std::size_t count, const WorkTime& now, std::uint64_t patience_ticks) {
    if (cursor_.deleted()) return Status::topic_deleted;
    if (cursor_.damaged() || !words_whole()) return Status::corrupt;
    WorkBatch& batch = records_.batch();
    const std::size_t before = batch.records().size();
    records_.begin(generation_, now.ms, now.realtime_ns);
    work_table::Acquired acquired = bound_->acquiring.acquire(count, now.ms, records_);
    if (acquired.why == work_table::Short::fenced) {
        if (const Status status = rebind(); status != Status::ok) return status;
        records_.begin(generation_, now.ms, now.realtime_ns);
        acquired = bound_->acquiring.acquire(count, now.ms, records_);
    }
    if (!words_whole()) batch.keep(before);  // nobody but this process knows of these locks
    if (cursor_.damaged() || !words_whole()) return Status::corrupt;  // found just now
    held_up_ = acquired.why == work_table::Short::open_ticket;
    if (!held_up_) return Status::ok;
    return cursor_.held_up_at(acquired.at, now.ticks, patience_ticks) == Step::corrupt ? Status::corrupt : Status::ok;
}

bool QueuePartition::ready(const WorkTime& now) const noexcept {
    const auto& work = bound_->work;
    const std::uint64_t frontier = std::max(work.control().frontier.load(std::memory_order_acquire), work.start());  // acquire FRONTIER
    if (frontier < work.start() + work.window() && cursor_.reader().is_decided(frontier)) return true;
    return due_in_ms(now) == 0;
}

std::optional<std::uint64_t> QueuePartition::due_in_ms(const WorkTime& now) const noexcept {
    const auto& work = bound_->work;
    const std::uint64_t frontier = work.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
    if (frontier <= work.start()) return std::nullopt;
    return work_table::until(work.next_due(), now.ms);
}

bool QueuePartition::may_be_lost(std::uint64_t offset) const noexcept {
    const auto& log = cursor_.log();
    return !log.block && cursor_.reader().log_end() - offset > log.records / 2;
}

}  // namespace ringmain
