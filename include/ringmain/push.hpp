// Handlers that are called for records, instead of loops that ask for them: subscriptions to streams and to work
// queues.
//
//   records -> at most max_in_flight at a time -> the caller's threads -> what they say is committed, or acknowledged
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ringmain/broker.hpp"
#include "ringmain/export.hpp"
#include "ringmain/group.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/retry.hpp"
#include "ringmain/status.hpp"

namespace ringmain {

inline constexpr std::uint32_t kPushInFlightMax = 10'000;

/// Runs what it is given, once, now or later, on whatever thread. What it throws away unrun counts as not handled.
using Executor = std::function<void(std::function<void()>)>;

struct PushOptions {
    /// Records in the hands of handlers, or on their way to them, at most: 1 to kPushInFlightMax. With so many nothing
    /// more is taken from the log: that is the back-pressure.
    std::uint32_t max_in_flight = 16;
    /// Empty: handlers run on the subscription's own thread, one at a time.
    Executor executor = {};
    /// Queues, with an executor: the lock of a record that waits for its handler, or whose handler runs, is renewed
    /// until so long after it was acquired, 0 (never) to kLockTimeMax. A handler that hangs loses its record a lock
    /// time later.
    std::chrono::milliseconds lock_renewed_for = std::chrono::minutes(5);
};

/// What a subscription has done since it began.
struct PushStatistics {
    RunCounts counts;
    /// ok while it goes on. Afterwards why it ended by itself: fenced_instance, group_deleted, topic_deleted, corrupt,
    /// ...
    Status status = Status::ok;
    std::string error;                     ///< The executor threw: its text. The subscription has ended.
    std::uint64_t stopped_partitions = 0;  ///< Streams: that stand still now, see StoppedPartition.
    bool ended = false;
};

/// Handlers being called for records, until it is stopped or destroyed.
///
/// Has a thread of its own, which takes records, hands them out and records what became of them. All calls may be made
/// from any thread but a handler's. Moved-from: may be assigned to or destroyed. After fork() the child's copy does
/// nothing.
class RINGMAIN_API Subscription {
public:
    Subscription(Subscription&&) noexcept;
    Subscription& operator=(Subscription&&) noexcept;
    /// As stop.
    ~Subscription();

    /// Takes nothing more, calls no handler that has not begun, waits for those that have, commits or acknowledges what
    /// they finished, and leaves. Records that were not begun go back, uncounted. Blocks as long as the handlers do.
    void stop() noexcept;
    [[nodiscard]] PushStatistics statistics() const;

    class Impl;
    explicit Subscription(std::unique_ptr<Impl> impl) noexcept;

private:
    std::unique_ptr<Impl> impl_;
};

/// Calls the handler for the records of the partitions that this member of the group gets; what fails is retried as
/// `retry` says. What is committed never passes an unfinished record. With RetryOrder::partition one record of each
/// partition is in flight at a time, with `key` one of each key. The handler is called by several threads at once if
/// the executor has several. A partition that is to be handed over waits for its handlers, up to half the session
/// time-out. Throws Error as RetryRunner, and invalid_argument (max_in_flight).
[[nodiscard]] RINGMAIN_API Subscription subscribe(const Broker& broker, std::string_view topic,
                                                  const GroupOptions& group, const RetryOptions& retry,
                                                  RetryHandler handler, const PushOptions& push = {});

/// Calls the handler for records of a work queue that exists. Success acknowledges, a failure is retried as the queue
/// says, and rejected goes to the dead letters. Locks are renewed as PushOptions::lock_renewed_for says; without an
/// executor they are not, since the one thread is in the handler. A handler that takes longer risks that another worker
/// gets the record, too; its answer is then refused, and counted as late. Throws Error as QueueWorker, and
/// invalid_argument (max_in_flight, lock_renewed_for).
[[nodiscard]] RINGMAIN_API Subscription subscribe_queue(const Broker& broker, std::string_view topic,
                                                        std::string_view queue, RetryHandler handler,
                                                        const PushOptions& push = {},
                                                        const QueueWorkerOptions& worker = {});

}  // namespace ringmain
