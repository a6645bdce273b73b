// The signals that end a daemon or make it read its file again, and whatever else wakes its main thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace ringmain::daemon {

/// Make it before any thread: SIGTERM, SIGINT and SIGHUP are blocked in all threads that come after it, and asked for
/// here.
class Signals {
public:
    using Clock = std::chrono::steady_clock;
    enum class Wake : std::uint8_t { deadline, woken, reload, stop };

    /// Throws Error io.
    Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals();

    /// Waits for a signal, wake() or the deadline. A stop comes before everything else.
    [[nodiscard]] Wake wait(std::optional<Clock::time_point> deadline) noexcept;
    /// Whether the next wait answers stop; for work that takes long.
    [[nodiscard]] static bool stop_is_pending() noexcept;
    /// From any thread.
    void wake() const noexcept;
    /// The number of the last signal that wait() answered for.
    [[nodiscard]] int last() const noexcept { return last_; }

private:
    int signals_ = -1;
    int wakes_ = -1;
    int last_ = 0;
};

}  // namespace ringmain::daemon
