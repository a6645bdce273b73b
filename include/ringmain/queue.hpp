// Work queues: any number of workers take records of a topic one by one, each for a lock time, and answer for each of them.
//
// A queue is a group of the topic whose records are not shared out by partition: a worker acquires whatever is available in any
// partition, more workers than partitions are fine, and each record is settled by itself. What lies behind its committed offset
// is finished, so that lag, gating, retention and reset are those of any group. A name is either a queue's or a stream group's.
//
//   available --acquire--> acquired --ack--> done            nack, or lock over: available again, after the back-off
//                                   --reject, or deliveries used up--> dead letter
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/export.hpp"
#include "ringmain/position.hpp"
#include "ringmain/record.hpp"
#include "ringmain/retry_policy.hpp"
#include "ringmain/status.hpp"

namespace ringmain {

/// Limits of queues.
inline constexpr std::chrono::milliseconds kLockTimeMin{10};
inline constexpr std::chrono::milliseconds kLockTimeMax{std::chrono::hours(12)};  // also of delays
inline constexpr std::uint32_t kDeliveryLimitMax = 30;
inline constexpr std::uint32_t kQueueWorkersMax = 1'024;
inline constexpr std::uint32_t kWorkerInFlightMax = 10'000;

/// Headers of a record that a queue honours, as decimal text.
/// Milliseconds, from the earlier of the record's timestamp and the moment at which a worker first sees it; at most 12 h.
inline constexpr std::string_view kDelayHeader = "ringmain-delay-ms";
/// Milliseconds from the record's timestamp, after which nobody gets it.
inline constexpr std::string_view kTimeToLiveHeader = "ringmain-ttl-ms";

/// Decided when the queue is created, and stored with it.
struct QueueOptions {
    Position start = Position::earliest();  ///< Resolved once for all partitions. Not Position::last.
    bool gating = false;                    ///< On `block` topics: producers wait for unfinished records.
    std::chrono::milliseconds lock_time{30'000};  ///< kLockTimeMin to kLockTimeMax.
    std::uint32_t delivery_limit = 5;       ///< Deliveries of a record before it goes to the dead letters: 1 to kDeliveryLimitMax; 0: no limit.
    Backoff backoff = {};                   ///< After a nack without a delay, and after a lock that ran out.
    /// What becomes of a record that used its deliveries up, or is rejected. `stop` is not for queues.
    Exhausted exhausted = Exhausted::dead_letter;
    Exhausted expired = Exhausted::dead_letter;  ///< The same of one whose time to live is over.
    std::string dead_letter_topic = {};     ///< Empty: the topic's name + ".dlq". Created if it does not exist, unless nothing goes there.
    std::uint32_t max_in_flight = 0;        ///< Records acquired by all workers together; 0: no limit.
    std::uint64_t window = 0;               ///< Offsets with unfinished records at most, a power of two; 0: all that the topic holds.
};

struct QueueWorkerOptions {
    std::uint32_t max_in_flight = 1'000;  ///< Records that this worker holds at most: 1 to kWorkerInFlightMax.
    WaitStrategy wait = WaitStrategy::block;
    std::chrono::nanoseconds patience = std::chrono::microseconds(50);  ///< As ConsumerOptions::patience.
    std::size_t buffer_bytes = 1 << 18;   ///< Memory for copies of one acquire.
};

/// Proof of a lock. Copy it freely; it is good until the record is settled, or the lock ran out and another worker has taken it.
struct Lock {
    std::uint32_t partition = 0;
    std::uint32_t generation = 0;
    std::uint64_t offset = 0;
    std::uint64_t word = 0;
    friend bool operator==(const Lock&, const Lock&) = default;
};

/// A record in the hands of a worker. The views live until the worker's next acquire.
struct QueueRecord {
    ConsumerRecord record;
    std::uint32_t deliveries = 1;  ///< This one included.
    Lock lock;
    std::chrono::milliseconds lock_left{0};  ///< When it was acquired.
};

struct AcquireResult {
    /// ok also when nothing was found. would_block: the cap of this worker or of the queue is reached. position_lost is never
    /// answered. group_deleted, topic_deleted, forked, misuse as in PollResult. corrupt: once, when a partition is found damaged;
    /// nothing is acquired from it until it can be read again, which is tried once a second.
    Status status = Status::ok;
    std::span<const QueueRecord> records;
    std::span<const Gap> gaps;  ///< Records lost to retention before they were finished; told to the worker that found it.
    std::span<const PartitionFailure> failures;
};

enum class [[nodiscard]] Settled : std::uint8_t {
    done,          ///< The record is in the state that was asked for.
    lock_lost,     ///< The lock ran out and another worker has taken the record, or it was settled before. Not to be tried again.
    record_lost,   ///< Retention took the record before it was finished.
    reset,         ///< The queue was reset or deleted: the lock is none any more.
    letters_full,  ///< The dead-letter topic refuses: the record stays, and is tried again after the back-off.
    unavailable,   ///< See `status`: forked, misuse, topic_deleted, corrupt; or invalid for an argument out of range.
};
RINGMAIN_API std::string_view to_string(Settled settled) noexcept;

struct SettleResult {
    Settled settled = Settled::done;
    Status status = Status::ok;
    /// lock_lost: who has the record now; nothing: nobody, or it is finished.
    std::optional<std::uint32_t> taken_by_slot = std::nullopt;
    std::uint32_t taken_by_pid = 0;  ///< 0: not known.
    bool dead_lettered = false;      ///< nack: it was the last delivery.
    /// nack with a delay on an `overwrite` topic: more than half of the log is used since the record; it may be lost before.
    bool may_be_lost = false;
};

/// A worker of a queue.
///
/// Threads: one at a time, as Consumer. Progress: lock-free; no call waits for another worker, whatever became of it. A worker
/// that is stopped keeps its records until their locks run out; those of one that is proven dead return at once.
/// Each record is handed out in offset order of its partition when available. Costs about two locked operations a record.
class RINGMAIN_API QueueWorker {
public:
    /// Joins a queue that exists. Throws Error: not_found (topic, queue), mismatch (the name is a stream group's), limit
    /// (kQueueWorkersMax), permission_denied, version_mismatch, corrupt, forked, invalid_argument.
    QueueWorker(const Broker& broker, std::string_view topic, std::string_view queue, const QueueWorkerOptions& options = {});
    /// The same, and creates the queue if it does not exist. Throws also mismatch if it exists with other options.
    QueueWorker(const Broker& broker, std::string_view topic, std::string_view queue, const QueueOptions& create,
                const QueueWorkerOptions& options = {});
    QueueWorker(QueueWorker&&) noexcept;
    QueueWorker& operator=(QueueWorker&&) noexcept;
    /// As close.
    ~QueueWorker();

    /// Takes up to `records_max` records; waits up to `timeout` while there is none. Of 0 it only says whether the queue is there.
    /// Dying in here loses nothing: what was taken returns, counted as a delivery.
    AcquireResult acquire(std::size_t records_max = 16, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::zero()) noexcept;

    /// The record is finished.
    SettleResult ack(const Lock& lock) noexcept;
    /// It failed: available again after `delay` (0 to 12 h), or the queue's back-off. If it was the last delivery: as reject.
    SettleResult nack(const Lock& lock, std::optional<std::chrono::milliseconds> delay = std::nullopt, std::string_view error = {}) noexcept;
    /// Gives it back untouched: available at once, and the delivery does not count.
    SettleResult release(const Lock& lock) noexcept;
    /// It can never be handled: to the dead letters (or skipped, as the queue says).
    SettleResult reject(const Lock& lock, std::string_view error = {}) noexcept;
    /// Holds it for another lock time from now on; `lock` becomes the new one.
    SettleResult renew(Lock& lock, std::optional<std::chrono::milliseconds> lock_time = std::nullopt) noexcept;

    /// Many at once, in the order given; answers how many are done. `results`, if not empty, must be as long as `records`.
    /// Not atomic together.
    std::size_t ack(std::span<const QueueRecord> records, std::span<SettleResult> results = {}) noexcept;

    /// Records that this worker holds by its own account; some may have been taken from it.
    [[nodiscard]] std::uint32_t in_flight() const noexcept;
    [[nodiscard]] std::uint32_t slot() const noexcept;
    [[nodiscard]] const std::string& topic() const noexcept;
    [[nodiscard]] const std::string& queue() const noexcept;
    [[nodiscard]] const QueueOptions& options() const noexcept;  ///< Of the queue.

    /// Releases what it holds, and leaves.
    void close() noexcept;

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
