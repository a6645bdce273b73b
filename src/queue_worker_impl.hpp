// What a worker of a queue is made of: its slot, its partitions, and the locks that it holds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "platform/fork_guard.hpp"
#include "platform/futex.hpp"
#include "queue_partition.hpp"
#include "ringmain/queue.hpp"
#include "use_guard.hpp"
#include "work_files.hpp"
#include "work_records.hpp"
#include "work_table/workers.hpp"

namespace ringmain {

class QueueWorker::Impl {
public:
    using Memory = platform::HostMemory;

    /// `queue` exists. Throws Error as the public constructor.
    Impl(std::shared_ptr<Broker::Impl> broker, std::string_view topic, std::string_view queue, const QueueWorkerOptions& options);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl();

    AcquireResult acquire(std::size_t records_max, std::chrono::nanoseconds timeout);
    SettleResult ack(const Lock& lock);
    SettleResult nack(const Lock& lock, std::optional<std::chrono::milliseconds> delay, std::string_view error);
    SettleResult release(const Lock& lock);
    SettleResult reject(const Lock& lock, std::string_view error);
    SettleResult renew(Lock& lock, std::optional<std::chrono::milliseconds> lock_time);
    std::size_t ack(std::span<const QueueRecord> records, std::span<SettleResult> results);
    void close() noexcept;

    /// The acquires from now on come back as soon as the word differs.
    void interrupt_by(platform::FutexWait word) noexcept { interrupt_ = word; }

    [[nodiscard]] std::uint32_t in_flight() const noexcept { return static_cast<std::uint32_t>(held_); }
    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    [[nodiscard]] const std::string& topic() const noexcept { return files_.topic().name(); }
    [[nodiscard]] const std::string& queue() const noexcept { return files_.name(); }
    [[nodiscard]] const QueueOptions& queue_options() const noexcept { return queue_options_; }

private:
    void join();
    /// Takes back what workers hold that are proven dead, and frees their places.
    void reap_others(const WorkTime& now);
    /// Looks at all partitions, fairly. True if there is something to tell.
    bool look_once(std::size_t records_max);
    void collect(std::size_t count, const WorkTime& now);
    /// How many more records this worker may hold, and how many of `wanted` the queue lets it.
    [[nodiscard]] std::size_t room(std::size_t wanted, const WorkTime& now);
    /// Counts anew what the words say, instead of what was answered. True: there are less.
    bool count_held(const WorkTime& now) noexcept;
    /// Whether the record is among those held: not any more if its time was over when they were counted.
    [[nodiscard]] bool is_counted(std::uint64_t lock) const noexcept;
    void note_held() noexcept;
    /// ok, or why the queue is none any more, or cannot be used.
    [[nodiscard]] Status why_gone() const noexcept;
    /// Also sets aside what is damaged: it is told once.
    void fail(QueuePartition& partition, Status status);
    /// Looks at what was set aside, once in a while.
    void take_back(const WorkTime& now);
    [[nodiscard]] bool take_back(std::unique_ptr<QueuePartition>& place);
    [[nodiscard]] bool interrupted() const noexcept {
        return interrupt_.word != nullptr && interrupt_.word->load(std::memory_order_acquire) != interrupt_.expected;  // acquire DONE_ELSEWHERE
    }
    void wait_and_look(std::size_t records_max, std::chrono::nanoseconds timeout);
    void sleep(std::chrono::nanoseconds left) noexcept;

    /// Runs `act(partition)` for the lock, and tells what came of it.
    template <class Act>
    SettleResult settle(const Lock& lock, const Act& act);
    std::size_t ack_run(std::span<const QueueRecord> records, std::span<SettleResult> results);
    [[nodiscard]] SettleResult told(const work_table::Answered& answered, QueuePartition& partition) const;
    void let_go(std::size_t records) noexcept;
    void hold_again(std::uint64_t deadline_ms, std::uint64_t now_ms) noexcept;
    void wake_others() noexcept;
    using Counter = Memory::Atomic<std::uint64_t> layout::WorkerSlot<Memory>::*;
    work_table::Answered answered_for(const Lock& lock, const work_table::Answered& answered, Counter counter) noexcept;
    void count(Counter counter, std::uint64_t by = 1) noexcept;

    std::shared_ptr<Broker::Impl> broker_;
    platform::ForkGuard fork_guard_;  // the broker's
    QueueWorkerOptions options_;
    QueueOptions queue_options_;
    WorkFiles files_;
    work_table::WorkRules rules_;
    work_table::Workers<Memory> workers_;
    std::uint64_t client_ = 0;
    std::uint32_t slot_ = 0;
    bool joined_ = false;
    DeadLetterLogs letters_;
    WorkBatch batch_;
    std::vector<std::unique_ptr<QueuePartition>> partitions_;
    std::size_t next_ = 0;  // the partition whose turn it is
    std::size_t held_ = 0;         // records taken and not answered for; a lock that another one took is among them until they are counted
    std::optional<std::uint64_t> counted_ms_;  // when they were
    bool waiting_ = false;         // the last look found nothing
    std::uint64_t reaped_ms_ = 0;  // when the others were looked at
    std::size_t aside_ = 0;        // partitions that are
    std::uint64_t taken_back_ticks_ = 0;  // when those were looked at
    Status status_ = Status::ok;
    std::vector<PartitionFailure> failures_;
    std::uint64_t patience_ticks_ = 0;
    platform::FutexWait interrupt_;
    UseFlag use_;
};

}  // namespace ringmain
