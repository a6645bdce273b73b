// The pollable descriptor of a consumer: a thread that sleeps on the doorbells and makes an eventfd readable.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "partition_cursor.hpp"
#include "platform/event.hpp"
#include "platform/futex.hpp"

namespace ringmain {

/// A partition that the watcher looks after: its memory stays mapped as long as it is watched.
struct Watched {
    std::shared_ptr<PartitionCursor> cursor;
    std::uint64_t position = 0;
};

/// A group that the consumer is a member of: news of it are a change of its wake word.
struct WatchedGroup {
    std::shared_ptr<const TopicFiles> topic;  // keeps the word mapped
    platform::FutexWait wake;
};

struct Watch {
    std::vector<Watched> partitions;
    std::vector<WatchedGroup> groups;
    /// Readable after so long in any case: a member that does not poll is no member for long.
    std::chrono::nanoseconds at_most = std::chrono::nanoseconds::max();
};

/// Level-triggered: readable from the moment something is ready until the consumer finds nothing and arms it again.
class Readiness {
public:
    /// Throws Error: io, limit.
    Readiness();
    ~Readiness();
    Readiness(const Readiness&) = delete;
    Readiness& operator=(const Readiness&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return event_.descriptor(); }

    /// The consumer found nothing: makes the descriptor unreadable and watches.
    void arm(Watch watch);
    /// Stops watching; the descriptor becomes readable, so that the consumer looks for itself.
    void disarm();

private:
    struct Armed {
        Watch watch;
        std::chrono::steady_clock::time_point until;

        [[nodiscard]] bool anything_ready() const noexcept;
        void sleep(platform::FutexWait orders) const noexcept;
    };

    void run() noexcept;
    void new_orders() noexcept;

    platform::Event event_;
    std::atomic<std::uint32_t> orders_{0};  // futex word: counts changes of what is watched
    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<const Armed> armed_;  // guarded by mutex_; null: not armed
    bool stop_ = false;             // guarded by mutex_
    std::thread thread_;
};

}  // namespace ringmain
