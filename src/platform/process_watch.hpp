// Waking up when a process ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "platform/descriptor.hpp"
#include "platform/event.hpp"
#include "platform/process.hpp"

namespace ringmain::platform {

/// Says when to look again, and nothing more: the proof of death is a lock. A process of another pid namespace, or one whose pid
/// is another's by now, is not watched. Nor is any without pidfds (Linux before 5.3) or descriptors: then waits just last
/// their time. Not thread-safe but for interrupt().
class ProcessWatch {
public:
    /// Takes at most this share of the descriptors that the process may open, and never more than kWatchedMax.
    static constexpr std::size_t kDescriptorsShare = 4;
    static constexpr std::size_t kWatchedMax = 1024;

    /// Throws Error: limit (descriptors), io.
    ProcessWatch();

    /// Watches exactly these processes from now on. Those that could not be watched before are tried again.
    void watch(std::span<const ProcessIdentity> processes);
    /// Ends waits when this descriptor is readable, too. The caller reads it; it stays the caller's, and outlives the watch.
    void add(int descriptor) noexcept;

    /// Until a watched process ends (told once), a descriptor is readable, interrupt(), or the time-out. True: a process ended.
    bool wait(std::chrono::nanoseconds timeout) noexcept;
    /// Ends a wait, or the next one. Any thread.
    void interrupt() noexcept { interrupted_.signal(); }

    /// How many processes it has a descriptor of.
    [[nodiscard]] std::size_t watched() const noexcept { return open_; }

private:
    struct Watched {
        std::uint64_t start_ticks = 0;
        Descriptor descriptor;  // none: it has ended, or cannot be watched
    };
    [[nodiscard]] Descriptor open(const ProcessIdentity& process) noexcept;
    void close(Watched& one) noexcept;

    Event interrupted_;
    Descriptor poll_;
    std::uint64_t pid_namespace_ = this_process().pid_namespace;
    std::map<std::uint32_t, Watched> watched_;  // by pid
    std::size_t open_ = 0;
};

}  // namespace ringmain::platform
