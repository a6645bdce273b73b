// The keeper at work in a thread of its own.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "keeper_event_counts.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/keeper.hpp"

namespace ringmain::daemon {

class KeeperThread {
public:
    /// Takes the keeper's lock; works from start() on. Throws Error: busy (names the pid of the other keeper),
    /// permission_denied. `listener` is called in the keeper's thread, and must not throw.
    KeeperThread(const Broker& broker, std::function<void(const KeeperEvent&)> listener)
        : keeper_(broker, [this, listener = std::move(listener)](const KeeperEvent& event) {
              events_.add(event);
              listener(event);
          }) {}
    KeeperThread(const KeeperThread&) = delete;
    KeeperThread& operator=(const KeeperThread&) = delete;

    void start(std::chrono::milliseconds interval);
    /// Returns when the step under way is done.
    void stop() noexcept;

    [[nodiscard]] const Keeper& keeper() const noexcept { return keeper_; }
    /// What happened in it so far.
    [[nodiscard]] const KeeperEventCounts& events() const noexcept { return events_; }

private:
    KeeperEventCounts events_;
    Keeper keeper_;
    std::jthread thread_;
};

}  // namespace ringmain::daemon
