// The pollable descriptor of a consumer: a thread that sleeps on the doorbells and makes an eventfd readable.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "partition_cursor.hpp"
#include "platform/event.hpp"

namespace ringmain {

/// A partition that the watcher looks after: its memory stays mapped as long as it is watched.
struct Watched {
    std::shared_ptr<PartitionCursor> cursor;
    std::uint64_t position = 0;
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

    /// The consumer found nothing at these positions: makes the descriptor unreadable and watches.
    void arm(std::vector<Watched> watched);
    /// Stops watching; the descriptor becomes readable, so that the consumer looks for itself.
    void disarm();

private:
    void run() noexcept;
    void new_orders() noexcept;

    platform::Event event_;
    std::atomic<std::uint32_t> orders_{0};  // futex word: counts changes of what is watched
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Watched> watched_;  // guarded by mutex_; empty: not armed
    bool stop_ = false;             // guarded by mutex_
    std::thread thread_;
};

}  // namespace ringmain
