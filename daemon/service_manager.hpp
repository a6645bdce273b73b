// What systemd is told about a daemon of Type=notify, and its watchdog.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace ringmain::daemon {

/// Says nothing when no service manager listens ($NOTIFY_SOCKET). Never fails: the daemon works without one.
/// Thread safety: the main thread alone.
class ServiceManager {
public:
    ServiceManager();

    /// A service manager listens, but this program was built without libsystemd and cannot tell it anything.
    [[nodiscard]] static bool is_ignored() noexcept;

    void ready(const std::string& status) const noexcept;
    void reloading() const noexcept;
    void stopping() const noexcept;
    void status(const std::string& text) const noexcept;
    void alive() const noexcept;
    /// How often alive() has to be said at least; nothing: no watchdog is set.
    [[nodiscard]] std::optional<std::chrono::microseconds> watchdog() const noexcept { return watchdog_; }

private:
    std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace ringmain::daemon
