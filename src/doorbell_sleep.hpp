// Sleeping on the doorbells of several partitions without missing a record.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "partition_cursor.hpp"
#include "platform/futex.hpp"

namespace ringmain {

/// Announces a sleeper on partitions, then sleeps. The order is what matters: announce, barrier, look, sleep.
class DoorbellSleep {
public:
    /// Announces on one partition's doorbell. Partitions beyond kFutexWaitMax, and those whose doorbell may not be written,
    /// shorten the sleep instead.
    void add(PartitionCursor& cursor) noexcept;
    /// Wakes up when a word of this process changes, too.
    void add(platform::FutexWait word) noexcept;
    /// The barrier between the announcements and the caller's last look.
    void fence() noexcept;
    /// Sleeps until a doorbell rings, at most `timeout` and at most kSleepMax.
    void sleep(std::chrono::nanoseconds timeout) noexcept;

private:
    static constexpr std::chrono::milliseconds kSleepMax{250};
    static constexpr std::chrono::milliseconds kSleepUnheard{1};  // nobody will ring for us: look often

    std::array<platform::FutexWait, platform::kFutexWaitMax> words_{};
    std::size_t count_ = 0;
    bool unheard_ = false;
};

}  // namespace ringmain
