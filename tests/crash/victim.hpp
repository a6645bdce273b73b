// A child process that is advanced one machine instruction at a time, and killed, or left stopped and resumed later.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ringmain::crash {

/// Why processes cannot be single-stepped here, if they cannot.
[[nodiscard]] std::optional<std::string> stepping_refused();

/// Runs this process, and thus its victims, on one core: handing a stopped process over then takes microseconds.
void stay_on_one_core();

/// Its parent advances it; nothing of it outlives this object.
class Victim {
public:
    /// Forks a child that waits before the first instruction of `operation`. `done`, in memory shared with the child,
    /// is set by it after the last one.
    Victim(const std::function<void()>& operation, std::atomic<std::uint32_t>& done);
    ~Victim() { kill(); }
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    /// Executes up to `instructions` more, and stops. Returns how many were executed before the operation was done.
    std::uint64_t step(std::uint64_t instructions);
    /// -1 if it is no more.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire) != 0; }

    /// Lets it go on to the end of the operation. False if it ended otherwise.
    bool resume();
    void kill() noexcept;

private:
    std::atomic<std::uint32_t>& done_;
    pid_t pid_ = -1;
};

}  // namespace ringmain::crash
