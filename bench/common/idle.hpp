// What a receiver does when it looked and found nothing; the same policies serve the library and its yardsticks.
#pragma once

#include <sched.h>

#include <cstdint>

#include "bench/common/ticks.hpp"

namespace ringmain::bench {

enum class Idle : std::uint8_t {
    spin,   ///< Look again at once.
    pause,  ///< Look again after about a microsecond.
    yield,  ///< The same, then give the core away: for processes that share one.
};

inline const char* to_string(Idle idle) noexcept {
    return idle == Idle::spin ? "spin" : idle == Idle::pause ? "pause" : "yield";
}

class IdlePolicy {
public:
    explicit IdlePolicy(Idle idle) : idle_(idle), pause_ticks_(ns_to_ticks(1000)) {}

    void nothing_found() const noexcept {
        if (idle_ == Idle::spin)
            return;
        const std::uint64_t until = ticks_now() + pause_ticks_;
        while (ticks_now() < until)
            cpu_relax();
        if (idle_ == Idle::yield)
            ::sched_yield();
    }

private:
    Idle idle_;
    std::uint64_t pause_ticks_;
};

}  // namespace ringmain::bench
