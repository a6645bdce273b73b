// What every peer says about itself, and how its sender waits for room.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bench/common/ticks.hpp"

namespace ringmain::bench {

struct PeerFacts {
    const char* name;
    const char* what;
    /// About how many small records it carries in a second: sizes the rounds, so that all take about as long.
    double records_per_s;
    /// It has threads or a server of its own, so its receiver waits in the kernel; a spinning one would take processor
    /// time from what it waits for.
    bool own_threads = false;
};

/// Places for records of `bytes`: as many as a topic has by default, in no more memory than its payload memory.
constexpr std::uint64_t peer_slots(std::size_t bytes) noexcept {
    constexpr std::uint64_t kSlotsMax = 65'536;
    constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 24;
    return std::min(kSlotsMax, kMemoryMax / std::max<std::uint64_t>(bytes, 1));
}

/// Called for each look that found no room: pauses, and gives the core away now and then in case the receiver needs it.
class RoomWait {
public:
    void operator()() noexcept {
        cpu_relax();
        if (++looks_ % 256 == 0)
            ::sched_yield();
    }

private:
    unsigned looks_ = 0;
};

}  // namespace ringmain::bench
