// Joining a queue, acquiring, and answering for what was acquired.
#include "queue_worker_impl.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "death_oracle.hpp"
#include "doorbell_sleep.hpp"
#include "error_about.hpp"
#include "idle_wait.hpp"
#include "platform/clock.hpp"
#include "platform/futex.hpp"
#include "queue_opening.hpp"
#include "queue_options.hpp"
#include "reading_options.hpp"
#include "work_reaping.hpp"

namespace ringmain {

namespace {

using std::chrono::milliseconds;
using work_table::Answer;

constexpr std::uint64_t kReapEveryMs = 100;    // as long as there are records to be had
constexpr std::uint64_t kReapWaitingMs = 10;
constexpr std::uint64_t kAgainUs = 1'000'000;  // how often what was set aside is looked at
constexpr std::chrono::milliseconds kSleepMax{100};  // what came due again without a word is found by then

const QueueWorkerOptions& checked(const QueueWorkerOptions& options) {
    if (options.max_in_flight == 0 || options.max_in_flight > kWorkerInFlightMax) {
        throw error_about(ErrorCode::invalid_argument, "max_in_flight",
                          "of " + std::to_string(options.max_in_flight) + " is outside 1.." + std::to_string(kWorkerInFlightMax));
    }
    check_reading(options.patience, options.buffer_bytes);
    return options;
}

/// Of one partition as it was at one time.
bool same_words(const Lock& a, const Lock& b) noexcept { return a.partition == b.partition && a.generation == b.generation; }

bool is_time(milliseconds time, milliseconds least) noexcept { return time >= least && time <= kLockTimeMax; }

}  // namespace

QueueWorker::Impl::Impl(std::shared_ptr<Broker::Impl> broker, std::string_view topic, std::string_view queue,
                        const QueueWorkerOptions& options)
    : broker_(std::move(broker)),
      fork_guard_(broker_->fork_guard()),
      options_(checked(options)),
      files_(open_queue(broker_->open_topic(topic), queue, platform::Access::read_write)),
      rules_(files_.rules()),
      workers_(files_.workers(), layout::kWorkersMax),
      letters_(broker_, files_.handle(), files_.name(), dead_letter_topic_of(files_.settings())),
      batch_(options.buffer_bytes) {
    queue_options_ = options_of(files_);
    patience_ticks_ = static_cast<std::uint64_t>(options.patience.count()) * platform::ticks_per_us() / 1000;
    join();
    try {
        for (std::uint32_t partition = 0; partition < files_.topic().options().partitions; ++partition) {
            partitions_.push_back(std::make_unique<QueuePartition>(files_, partition, rules_, slot_, letters_, batch_));
        }
    } catch (...) {
        workers_.leave(slot_, client_);
        throw;
    }
    next_ = slot_ % partitions_.size();
}

void QueueWorker::Impl::join() {
    client_ = broker_->client().word();
    const auto slot = workers_.join(client_, DeathOracle(broker_->clients()), [this](std::uint32_t dead_slot, std::uint64_t owner) {
        return return_records_of(files_, dead_slot, owner, work_clock_ms()).complete;
    });
    if (!slot) {
        throw error_about(ErrorCode::limit, queue_text(topic(), queue()),
                          "has no place for another worker: all " + std::to_string(kQueueWorkersMax) + " are taken by living ones");
    }
    slot_ = *slot;
    joined_ = true;
    auto& mine = workers_.slot(slot_);
    mine.in_flight_max.store(options_.max_in_flight, std::memory_order_relaxed);                                     // relaxed: for show
    mine.since_ns.store(static_cast<std::uint64_t>(platform::realtime_coarse_ns()), std::memory_order_relaxed);  // relaxed: for show
}

void QueueWorker::Impl::reap_others(const WorkTime& now) {
    if (((now.ms - reaped_ms_) & work_table::kClockMask) < (waiting_ ? kReapWaitingMs : kReapEveryMs)) return;
    reaped_ms_ = now.ms;
    const DeathOracle is_dead(broker_->clients());
    bool any = false;
    for (std::uint32_t slot = 0; slot < workers_.count(); ++slot) {
        const std::uint64_t owner = workers_.owner(slot);
        if (owner == 0 || owner == client_ || !is_dead(owner)) continue;
        if (return_records_of(files_, slot, owner, now.ms).complete) any |= workers_.free(slot, owner);
    }
    if (any) wake_others();
}

QueueWorker::Impl::~Impl() {
    if (!fork_guard_.forked()) close();
}

// --- acquiring ---

AcquireResult QueueWorker::Impl::acquire(std::size_t records_max, std::chrono::nanoseconds timeout) {
    const UseScope scope(use_);
    if (!scope.entered()) return {Status::misuse, {}, {}, {}};
    if (fork_guard_.forked()) return {Status::forked, {}, {}, {}};
    if (!joined_) return {Status::group_deleted, {}, {}, {}};
    if (!look_once(records_max) && timeout.count() > 0) wait_and_look(records_max, timeout);
    return {status_, batch_.records(), batch_.gaps, failures_};
}

bool QueueWorker::Impl::look_once(std::size_t records_max) {
    status_ = Status::ok;
    failures_.clear();
    const WorkTime now = work_time_now();
    reap_others(now);
    const std::size_t wanted = room(records_max, now);
    batch_.begin(wanted);
    if (aside_ != 0) [[unlikely]] take_back(now);
    if (wanted == 0) {  // then no partition is asked
        status_ = why_gone();
        if (status_ != Status::ok) {
            failures_.push_back({topic(), kWholeTopic, status_});
            return true;
        }
        if (records_max != 0) status_ = Status::would_block;
        return held_ >= options_.max_in_flight;  // nobody but the caller can change that
    }
    collect(wanted, now);
    const std::size_t got = batch_.records().size();
    held_ += got;
    waiting_ = got == 0;
    letters_.rest_when_unused();
    count(&layout::WorkerSlot<Memory>::acquired, got);
    if (rules_.in_flight_max != 0 && got < wanted) workers_.settle(slot_, wanted - got);
    note_held();
    return got != 0 || !batch_.gaps.empty() || status_ != Status::ok;
}

Status QueueWorker::Impl::why_gone() const noexcept {
    if (files_.topic().deleted()) return Status::topic_deleted;
    if (!files_.topic().groups_whole()) return Status::corrupt;
    return files_.gone() ? Status::group_deleted : Status::ok;
}

void QueueWorker::Impl::collect(std::size_t count, const WorkTime& now) {
    for (std::size_t turn = 0; turn < partitions_.size() && batch_.records().size() < count; ++turn) {
        QueuePartition& partition = *partitions_[(next_ + turn) % partitions_.size()];
        if (partition.aside()) [[unlikely]] continue;
        const Status status = partition.acquire(count - batch_.records().size(), now, patience_ticks_);
        if (status != Status::ok) [[unlikely]] fail(partition, status);
    }
    next_ = (next_ + 1) % partitions_.size();
}

std::size_t QueueWorker::Impl::room(std::size_t wanted, const WorkTime& now) {
    if (held_ >= options_.max_in_flight) count_held(now);
    const std::size_t mine = std::min<std::size_t>(wanted, options_.max_in_flight - std::min<std::size_t>(held_, options_.max_in_flight));
    if (mine == 0 || rules_.in_flight_max == 0) return mine;
    const auto announced = [&](std::size_t records) {
        return workers_.announce(slot_, static_cast<std::uint32_t>(records), rules_.in_flight_max, now.ms + rules_.lock_ms, now.ms);
    };
    std::size_t fits = announced(mine);
    if (fits < mine && held_ != 0 && count_held(now)) fits += announced(mine - fits);  // what this one lost must not block anybody
    return fits;
}

/// Records that were taken away from this worker do not count for its cap, nor those whose time is over, answered for or not.
bool QueueWorker::Impl::count_held(const WorkTime& now) noexcept {
    if (counted_ms_ && ((now.ms - *counted_ms_) & work_table::kClockMask) < work_table::kSweepMs) return false;
    counted_ms_ = now.ms;
    std::size_t held = 0;
    for (const auto& partition : partitions_) partition->for_each_held([&](const Lock& lock) { held += is_counted(lock.word) ? 1U : 0U; });
    if (held >= held_) return false;
    let_go(held_ - held);
    return true;
}

bool QueueWorker::Impl::is_counted(std::uint64_t lock) const noexcept {
    return !counted_ms_ || ((*counted_ms_ - work_table::time_of(lock)) & work_table::kClockMask) > work_table::kClockMask / 2;
}

/// With a cap on all workers together every change of the number is announced as it happens.
void QueueWorker::Impl::note_held() noexcept {
    if (rules_.in_flight_max == 0) workers_.slot(slot_).held.store(held_, std::memory_order_relaxed);  // relaxed: for show
}

void QueueWorker::Impl::fail(QueuePartition& partition, Status status) {
    status_ = status;
    failures_.push_back({topic(), partition.cursor().partition(), status});
    if (status != Status::corrupt) return;
    partition.set_aside();
    ++aside_;
}

void QueueWorker::Impl::take_back(const WorkTime& now) {
    if (now.ticks - taken_back_ticks_ < kAgainUs * platform::ticks_per_us()) return;
    taken_back_ticks_ = now.ticks;
    for (auto& place : partitions_) {
        if (place->aside() && take_back(place)) --aside_;
    }
}

/// False: it is still damaged, or may not be opened now.
bool QueueWorker::Impl::take_back(std::unique_ptr<QueuePartition>& place) {
    try {
        place = std::make_unique<QueuePartition>(files_, place->cursor().partition(), rules_, slot_, letters_, batch_);
        if (place->words_whole()) return true;
        place->set_aside();  // by a file that all partitions need
        return false;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::topic_deleted) fail(*place, Status::topic_deleted);
        if (error.code() == ErrorCode::not_found) fail(*place, Status::group_deleted);
        return false;
    } catch (...) {
        return false;  // no memory in this process
    }
}

void QueueWorker::Impl::wait_and_look(std::size_t records_max, std::chrono::nanoseconds timeout) {
    IdleWait idle(options_.wait, timeout);
    for (;;) {
        const IdleWait::Next next = idle.next();
        if (next == IdleWait::Next::sleep) sleep(std::chrono::nanoseconds(idle.left_ns()));
        if (look_once(records_max) || next == IdleWait::Next::stop || interrupted()) return;
    }
}

void QueueWorker::Impl::sleep(std::chrono::nanoseconds left) noexcept {
    left = std::min<std::chrono::nanoseconds>(left, kSleepMax);
    DoorbellSleep sleep;
    auto& wake = files_.topic().groups().group(files_.group().slot).wake;
    sleep.add(platform::FutexWait{&wake, wake.load(std::memory_order_acquire)});  // acquire GROUP_SET
    if (interrupt_.word != nullptr) sleep.add(interrupt_);
    for (const auto& partition : partitions_) {
        if (!partition->aside()) sleep.add(partition->cursor());
    }
    sleep.fence();
    const WorkTime now = work_time_now();
    for (const auto& partition : partitions_) {
        if (partition->aside()) continue;
        if (status_ != Status::would_block && (partition->ready(now) || partition->cursor().deleted())) return;
        if (const auto due = partition->due_in_ms(now)) left = std::min<std::chrono::nanoseconds>(left, milliseconds(std::max<std::uint64_t>(*due, 1)));
        if (partition->held_up()) left = std::min(left, options_.patience);
    }
    sleep.sleep(left);
}

// --- answering ---

template <class Act>
SettleResult QueueWorker::Impl::settle(const Lock& lock, const Act& act) {
    const UseScope scope(use_);
    if (!scope.entered()) return {.settled = Settled::unavailable, .status = Status::misuse};
    if (fork_guard_.forked()) return {.settled = Settled::unavailable, .status = Status::forked};
    if (!joined_ || lock.partition >= partitions_.size()) return {.settled = Settled::unavailable, .status = Status::invalid};
    QueuePartition& partition = *partitions_[lock.partition];
    if (partition.cursor().deleted()) return {.settled = Settled::unavailable, .status = Status::topic_deleted};
    if (lock.generation != partition.generation()) return {.settled = Settled::reset};
    const work_table::Answered answered = act(partition);
    if (!partition.words_whole()) [[unlikely]] return {.settled = Settled::unavailable, .status = Status::corrupt};
    const bool too_late = answered.answer != Answer::done && answered.answer != Answer::letters_refused && answered.answer != Answer::invalid;
    if (too_late) count(&layout::WorkerSlot<Memory>::refused);
    return told(answered, partition);
}

SettleResult QueueWorker::Impl::told(const work_table::Answered& answered, QueuePartition& partition) const {
    SettleResult result;
    result.dead_lettered = answered.ended && answered.answer == Answer::done;
    switch (answered.answer) {
        case Answer::done: break;
        case Answer::taken:
        case Answer::finished: result.settled = Settled::lock_lost; break;
        case Answer::lost: result.settled = Settled::record_lost; break;
        case Answer::fenced: result.settled = partition.cursor().deleted() ? Settled::unavailable : Settled::reset; break;
        case Answer::letters_refused: result.settled = Settled::letters_full; break;
        case Answer::invalid: return {.settled = Settled::unavailable, .status = Status::invalid};
    }
    if (result.settled == Settled::unavailable) result.status = Status::topic_deleted;
    if (answered.slot) {
        result.taken_by_slot = answered.slot;
        const layout::ClientId holder = layout::ClientId::from_word(workers_.owner(*answered.slot));
        if (const auto details = broker_->clients().details(holder)) result.taken_by_pid = details->process.pid;
    }
    return result;
}

work_table::Answered QueueWorker::Impl::answered_for(const Lock& lock, const work_table::Answered& answered, Counter counter) noexcept {
    if (answered.answer == Answer::done) count(counter);
    if (answered.answer == Answer::done || answered.answer == Answer::letters_refused) let_go(is_counted(lock.word) ? 1 : 0);
    return answered;
}

/// These records are not in this worker's hands any more.
void QueueWorker::Impl::let_go(std::size_t records) noexcept {
    records = std::min(records, held_);
    held_ -= records;
    if (rules_.in_flight_max != 0) workers_.settle(slot_, records);
    note_held();
}

/// A record whose time was over, and that nobody has taken: whatever the caps say by now.
void QueueWorker::Impl::hold_again(std::uint64_t deadline_ms, std::uint64_t now_ms) noexcept {
    constexpr std::uint32_t kNoCap = 0;
    ++held_;
    if (rules_.in_flight_max != 0) (void)workers_.announce(slot_, 1, kNoCap, deadline_ms, now_ms);
    note_held();
}

void QueueWorker::Impl::count(Counter counter, std::uint64_t by) noexcept {
    auto& word = workers_.slot(slot_).*counter;
    word.store(word.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);  // relaxed, both: a statistic of its only writer
}

/// Somebody who sleeps may have what was given back.
void QueueWorker::Impl::wake_others() noexcept {
    const auto& groups = files_.topic().groups();
    groups.count_wake(files_.group().slot);
    platform::futex_wake_all(groups.group(files_.group().slot).wake);
}

SettleResult QueueWorker::Impl::ack(const Lock& lock) {
    return settle(lock, [&](QueuePartition& partition) {
        const work_table::Answered answered = partition.settling().ack(lock.offset, lock.word);
        return answered_for(lock, answered, &layout::WorkerSlot<Memory>::acked);
    });
}

std::size_t QueueWorker::Impl::ack(std::span<const QueueRecord> records, std::span<SettleResult> results) {
    std::size_t done = 0;
    for (std::size_t begin = 0; begin < records.size();) {
        std::size_t end = begin + 1;
        while (end < records.size() && same_words(records[end].lock, records[begin].lock)) ++end;
        done += ack_run(records.subspan(begin, end - begin), begin < results.size() ? results.subspan(begin) : results.last(0));
        begin = end;
    }
    return done;
}

/// Records of one partition: what is asked once for one is asked once for all.
std::size_t QueueWorker::Impl::ack_run(std::span<const QueueRecord> records, std::span<SettleResult> results) {
    std::size_t done = 0;
    std::size_t counted = 0;  // of these
    const SettleResult whole = settle(records.front().lock, [&](QueuePartition& partition) -> work_table::Answered {
        for (std::size_t i = 0; i < records.size(); ++i) {
            const Lock& lock = records[i].lock;
            const work_table::Answered answered = partition.settling().ack_of_many(lock.offset, lock.word);
            done += answered.answer == Answer::done ? 1U : 0U;
            counted += answered.answer == Answer::done && is_counted(lock.word) ? 1U : 0U;
            if (answered.answer != Answer::done) [[unlikely]] count(&layout::WorkerSlot<Memory>::refused);
            if (i < results.size()) results[i] = told(answered, partition);
        }
        if (done == 0) return {};
        let_go(counted);
        count(&layout::WorkerSlot<Memory>::acked, done);
        return partition.settling().end_of_many();
    });
    if (whole.settled == Settled::done) return done;
    std::fill_n(results.begin(), std::min(results.size(), records.size()), whole);
    return 0;
}

SettleResult QueueWorker::Impl::nack(const Lock& lock, std::optional<milliseconds> delay, std::string_view error) {
    if (delay && !is_time(*delay, milliseconds(0))) return {.settled = Settled::unavailable, .status = Status::invalid};
    SettleResult result = settle(lock, [&](QueuePartition& partition) {
        std::optional<std::uint64_t> delay_ms;
        if (delay) delay_ms = static_cast<std::uint64_t>(delay->count());
        partition.letters().set_errors(lock.offset, {}, error);
        const work_table::Answered answered = partition.settling().nack(lock.offset, lock.word, delay_ms, work_clock_ms());
        return answered_for(lock, answered, &layout::WorkerSlot<Memory>::nacked);
    });
    if (result.settled != Settled::done || result.dead_lettered) return result;
    result.may_be_lost = delay && delay->count() > 0 && partitions_[lock.partition]->may_be_lost(lock.offset);
    if (delay && delay->count() == 0) wake_others();
    return result;
}

SettleResult QueueWorker::Impl::release(const Lock& lock) {
    const SettleResult result = settle(lock, [&](QueuePartition& partition) {
        const work_table::Answered answered = partition.settling().release(lock.offset, lock.word, work_clock_ms());
        return answered_for(lock, answered, &layout::WorkerSlot<Memory>::released);
    });
    if (result.settled == Settled::done) wake_others();
    return result;
}

SettleResult QueueWorker::Impl::reject(const Lock& lock, std::string_view error) {
    return settle(lock, [&](QueuePartition& partition) {
        partition.letters().set_errors(lock.offset, {}, error);
        const work_table::Answered answered = partition.settling().reject(lock.offset, lock.word, work_clock_ms());
        return answered_for(lock, answered, &layout::WorkerSlot<Memory>::rejected);
    });
}

SettleResult QueueWorker::Impl::renew(Lock& lock, std::optional<milliseconds> lock_time) {
    if (lock_time && !is_time(*lock_time, kLockTimeMin)) return {.settled = Settled::unavailable, .status = Status::invalid};
    return settle(lock, [&](QueuePartition& partition) {
        const std::uint64_t lock_ms = lock_time ? static_cast<std::uint64_t>(lock_time->count()) : rules_.lock_ms;
        const std::uint64_t now = work_clock_ms();
        const bool counted = is_counted(lock.word);
        workers_.extend(slot_, now + lock_ms, now);
        const work_table::Answered answered = partition.settling().renew(lock.offset, lock.word, lock_ms, now);
        if (answered.answer != Answer::done) return answered;
        count(&layout::WorkerSlot<Memory>::renewed);
        if (!counted) hold_again(now + lock_ms, now);
        return answered;
    });
}

void QueueWorker::Impl::close() noexcept {
    if (!joined_) return;
    for (const auto& partition : partitions_) partition->for_each_held([this](const Lock& lock) { (void)release(lock); });
    joined_ = false;
    workers_.leave(slot_, client_);
}

}  // namespace ringmain
