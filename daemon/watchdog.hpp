// When the service manager's watchdog is told that the daemon is alive: only while the keeper makes steps.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace ringmain::daemon {

class Watchdog {
public:
    using Clock = std::chrono::steady_clock;

    /// `within`: how long the watchdog waits; nothing: there is none. A keeper that has nothing to do makes a step
    /// twice a second, so that less than 2 s are too little.
    explicit Watchdog(std::optional<std::chrono::microseconds> within) {
        if (within)
            pause_ = *within / kLooksPerWait;
    }

    /// When to ask again; nothing: never.
    [[nodiscard]] std::optional<Clock::time_point> next_look() const noexcept {
        return pause_ ? std::optional(next_look_) : std::nullopt;
    }

    /// `steps`: how many the keeper has made. True at most once per pause, and only if there were new ones since.
    [[nodiscard]] bool is_to_be_fed(Clock::time_point now, std::uint64_t steps) noexcept {
        if (!pause_ || now < next_look_)
            return false;
        next_look_ = now + *pause_;
        const bool made_steps = steps != steps_;
        steps_ = steps;
        return made_steps;
    }

private:
    static constexpr int kLooksPerWait = 4;

    std::optional<std::chrono::microseconds> pause_;
    Clock::time_point next_look_{};
    std::uint64_t steps_ = 0;
};

}  // namespace ringmain::daemon
