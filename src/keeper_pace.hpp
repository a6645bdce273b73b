// How long a keeper pauses between two steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "keeper_step.hpp"

namespace ringmain {

/// Short pauses while something goes on, long ones when nothing has changed for a while.
///
/// What ends a long pause early (ClientWatch::wait): the end of a client, names that change, a reader that knocks. What shortens
/// it: the time at which something falls due. So nothing that anybody waits for needs the short pauses.
class KeeperPace {
public:
    static constexpr std::int64_t kAwakeNs = 1'000'000'000;             ///< Without a change, before pauses get long.
    static constexpr std::chrono::nanoseconds kLongPause{450'000'000};  ///< Two in a row are less than a second.
    static constexpr std::chrono::nanoseconds kShortestPause{1'000'000};  ///< Whatever falls due.

    /// After a step at `now_ns` (monotonic). `active`: it did something, or found that something had changed.
    void note(std::int64_t now_ns, bool active, std::int64_t due_ns) noexcept {
        if (active || !active_ns_) active_ns_ = now_ns;
        stepped_ns_ = now_ns;
        due_ns_ = due_ns;
    }

    /// `interval`: the pause while something goes on.
    [[nodiscard]] std::chrono::nanoseconds pause(std::chrono::nanoseconds interval) const noexcept {
        const bool awake = !active_ns_ || is_recent(active_ns_, stepped_ns_, kAwakeNs);
        const std::chrono::nanoseconds pause = awake ? interval : std::max(interval, kLongPause);
        if (due_ns_ == kNothingDue) return pause;
        return std::clamp(std::chrono::nanoseconds(due_ns_ - stepped_ns_), std::min(kShortestPause, pause), pause);
    }

private:
    std::optional<std::int64_t> active_ns_;
    std::int64_t stepped_ns_ = 0;
    std::int64_t due_ns_ = kNothingDue;
};

}  // namespace ringmain
