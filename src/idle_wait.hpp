// How a consumer passes the time while there is nothing to read.
#pragma once

#include <chrono>
#include <cstdint>

#include "ringmain/consumer.hpp"

namespace ringmain {

/// Paces the looks of one poll. The consumer looks between the calls and does the sleeping itself.
class IdleWait {
public:
    IdleWait(WaitStrategy strategy, std::chrono::nanoseconds timeout) noexcept;

    enum class Next : std::uint8_t {
        look,   ///< Look again.
        sleep,  ///< Announce and sleep at most left_ns().
        stop,   ///< The time is up.
    };
    /// Pauses as the strategy says.
    [[nodiscard]] Next next() noexcept;

    [[nodiscard]] std::int64_t left_ns() const noexcept { return deadline_ns_ - now_ns_; }

private:
    static constexpr std::uint32_t kClockEvery = 16;         // looks between two readings of the clock
    static constexpr std::uint32_t kPausesBeforeSleep = 48;  // about as many microseconds

    WaitStrategy strategy_;
    std::uint32_t looks_ = 0;
    std::int64_t now_ns_;
    std::int64_t deadline_ns_;
};

}  // namespace ringmain
