// Waking up when a process ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>

#include "platform/descriptor.hpp"
#include "platform/event.hpp"

namespace ringmain::platform {

/// Says when to look again, and nothing more: a pid can be another process's by now, or of another namespace. The proof of
/// death is a lock. Without pidfds (Linux before 5.3, no descriptors left) waits just last their time.
class ProcessWatch {
public:
    /// Watches exactly these processes from now on.
    void watch(std::span<const std::uint32_t> pids);
    /// Until a watched process ends (told once), interrupt(), or the time-out. One thread at a time.
    void wait(std::chrono::nanoseconds timeout) noexcept;
    /// Ends a wait, or the next one. Any thread.
    void interrupt() noexcept { interrupted_.signal(); }

private:
    std::map<std::uint32_t, Descriptor> watched_;  // by pid; those that have ended have no descriptor
    Event interrupted_;
};

}  // namespace ringmain::platform
