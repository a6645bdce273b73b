// What a subscription is made of: a thread that hands records out, and what it tells others.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "broker_impl.hpp"
#include "platform/fork_guard.hpp"
#include "ringmain/push.hpp"

namespace ringmain {

class Subscription::Impl {
public:
    explicit Impl(Broker::Impl& broker) : fork_guard_(broker.fork_guard()) {}
    virtual ~Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    /// Once. The thread runs until stop, or until run comes back by itself.
    void start();
    void stop() noexcept;
    [[nodiscard]] PushStatistics statistics() const;
    [[nodiscard]] bool forked() const noexcept { return fork_guard_.forked(); }

protected:
    /// Until stopping(); then waits for what is in flight, and leaves.
    virtual void run() = 0;
    /// Ends a sleep of run; any thread.
    virtual void wake() noexcept = 0;

    [[nodiscard]] bool stopping() const noexcept {
        return stopping_.load(std::memory_order_acquire);
    }  // acquire PUSH_STOP
    /// Changes what statistics() tells.
    void note(const std::function<void(PushStatistics&)>& change);

private:
    platform::ForkGuard fork_guard_;
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    PushStatistics statistics_;  // guarded by mutex_
    std::mutex joining_;
    std::thread thread_;  // guarded by joining_ once it is started
};

/// Throws Error invalid_argument.
void check_push_options(const PushOptions& options);

}  // namespace ringmain
