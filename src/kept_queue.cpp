// A queue that a keeper looks after.
#include "kept_queue.hpp"

#include <utility>

#include "partition_log/doorbell.hpp"
#include "platform/clock.hpp"
#include "platform/futex.hpp"
#include "work_reaping.hpp"
#include "work_table/advance.hpp"
#include "work_table/workers.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kAgainNs = 1'000'000'000;      // what could not be opened
constexpr std::int64_t kRefusedNs = 60'000'000'000;   // between two times that refused letters are told: each attempt is one
constexpr std::uint64_t kMovesPerStep = 64;           // of a start

// Relaxed: a statistic.
std::uint64_t figure(const platform::HostMemory::Atomic<std::uint64_t>& counter) noexcept { return counter.load(std::memory_order_relaxed); }

}  // namespace

KeptQueue::KeptQueue(std::shared_ptr<const TopicFiles> topic, group_table::GroupRef group, std::string name, std::shared_ptr<const Logs> logs)
    : work_(std::move(topic), group, std::move(name), platform::Access::read_write), logs_(std::move(logs)), parts_(logs_->size()) {
    for (std::uint32_t partition = 0; partition < parts_.size(); ++partition) (void)words(partition, 0);
}

const KeptQueue::Work* KeptQueue::words(std::uint32_t partition, std::int64_t now_ns) noexcept {
    Part& part = parts_[partition];
    const Log& log = (*logs_)[partition];
    if (log.memory == nullptr) {
        part.work.reset();
        return nullptr;
    }
    const std::uint32_t generation = work_.generation_now(partition);
    const bool same = part.generation == generation && part.opened == log.opened;
    if (part.work && same && work_.words_whole(partition)) return &*part.work;
    if (same && is_recent(part.failed_ns, now_ns, kAgainNs)) return nullptr;
    part.work.reset();
    part.failed_ns.reset();
    if (part.generation != generation) part.lost = part.letters_refused = 0;
    part.generation = generation;
    part.opened = log.opened;
    try {
        const WorkFiles::Part& file = work_.reopen(partition);
        part.generation = file.geometry.generation;
        const Work& work = part.work.emplace(file.base, file.geometry, work_.topic().groups(), *log.memory);
        if (!std::exchange(part.known, true)) {
            part.lost = figure(work.control().lost);  // what was lost before is not news
            part.letters_refused = figure(work.control().letters_refused);
        }
        return &work;
    } catch (const std::exception&) {
        part.failed_ns = now_ns;
        return nullptr;  // deleted, damaged or without the rights: `ringmain verify` says why
    }
}

void KeptQueue::step(KeeperStep& step) {
    if (work_.gone()) return;
    if (seen_deaths_ != step.deaths) {
        seen_deaths_ = step.deaths;
        reap_workers(step);
    }
    for (std::uint32_t partition = 0; partition < parts_.size(); ++partition) {
        const Work* const work = words(partition, step.now_ns);
        if (work == nullptr) continue;
        advance(*work, step);
        tell_losses(partition, parts_[partition], step);
    }
}

void KeptQueue::reap_workers(KeeperStep& step) {
    const work_table::Workers<Memory> workers(work_.workers(), layout::kWorkersMax);
    for (std::uint32_t slot = 0; slot < workers.count(); ++slot) {
        const std::uint64_t owner = workers.owner(slot);
        if (owner != 0 && step.is_dead(owner)) reap(slot, owner, step);
    }
}

/// Its records first, then its place: whoever dies in between leaves a place of a dead worker.
void KeptQueue::reap(std::uint32_t slot, std::uint64_t owner, KeeperStep& step) {
    const auto returned = return_records(slot, owner, step.now_ns);
    if (!returned) {
        seen_deaths_.reset();
        step.due_at(step.now_ns + kAgainNs);
        return;
    }
    step.report.returned_records += *returned;
    if (!work_table::Workers<Memory>(work_.workers(), layout::kWorkersMax).free(slot, owner)) return;  // others were faster
    ++step.report.reaped_workers;
    step.events.tell([&] {
        return KeeperEvent{KeeperEventKind::worker_reaped, work_.topic().name(), {},
                           "worker " + std::to_string(slot) + " of queue '" + work_.name() + "' (" + step.client_text(owner) + ")", *returned};
    });
}

std::optional<std::uint64_t> KeptQueue::return_records(std::uint32_t slot, std::uint64_t owner, std::int64_t now_ns) {
    for (std::uint32_t partition = 0; partition < parts_.size(); ++partition) (void)words(partition, now_ns);  // as they are after a reset
    const ReturnedRecords returned = return_records_of(work_, slot, owner, platform::shared_monotonic_ms());
    for (std::uint32_t partition = 0; partition < parts_.size() && returned.records != 0; ++partition) wake(partition);
    return returned.complete ? std::optional(returned.records) : std::nullopt;
}

/// Workers that sleep until what they know of is due do not know of these records.
void KeptQueue::wake(std::uint32_t partition) const noexcept {
    partition_log::Doorbell<Memory> bell(*work_.topic().readers(partition));
    if (bell.take_sleepers()) platform::futex_wake_all(*bell.futex_word());
}

void KeptQueue::advance(const Work& work, KeeperStep& step) noexcept {
    for (std::uint64_t moves = 0; work_table::advance(work); ++moves) {
        step.changed = true;
        if (moves < kMovesPerStep) continue;
        ++step.report.unfinished;
        return;
    }
}

/// Who found the loss was told of it by a gap; this is for the log.
void KeptQueue::tell_losses(std::uint32_t partition, Part& part, const KeeperStep& step) {
    const std::uint64_t lost = figure(part.work->control().lost);
    const std::uint64_t refused = figure(part.work->control().letters_refused);
    const auto event = [&](KeeperEventKind kind, std::uint64_t count) {
        step.events.tell([&] { return KeeperEvent{kind, work_.topic().name(), partition, work_.name(), count}; });
    };
    if (lost > part.lost) event(KeeperEventKind::queue_lost, lost - part.lost);
    part.lost = lost;
    if (refused > part.letters_refused) refused_ += refused - part.letters_refused;
    part.letters_refused = refused;
    if (refused_ == 0 || is_recent(refused_told_ns_, step.now_ns, kRefusedNs)) return;
    refused_told_ns_ = step.now_ns;
    event(KeeperEventKind::letters_refused, std::exchange(refused_, 0));
}

}  // namespace ringmain
