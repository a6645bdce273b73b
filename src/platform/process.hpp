// What this process is called by others. Informative: nobody decides by it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace ringmain::platform {

struct ProcessIdentity {
    std::uint32_t pid = 0;            ///< In its own pid namespace.
    std::uint64_t pid_namespace = 0;  ///< Inode of that namespace, or 0.
    std::uint64_t start_ticks = 0;    ///< Start time in clock ticks since boot, or 0.
    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

[[nodiscard]] ProcessIdentity this_process() noexcept;

struct ProcessLook {
    bool stopped = false;  ///< By a signal or a debugger.
    std::array<char, 16> command{};  ///< Its name as ps shows it, zero-terminated.
};

/// What the kernel says of the process, if it may be looked at and is the one that started then. `pid`: in the namespace of
/// the caller.
[[nodiscard]] std::optional<ProcessLook> look_at_process(std::uint32_t pid, std::uint64_t start_ticks) noexcept;

/// When the process that has this pid now was started, in clock ticks since boot; 0: there is none, or it may not be looked at.
[[nodiscard]] std::uint64_t start_ticks_of(std::uint32_t pid) noexcept;

}  // namespace ringmain::platform
