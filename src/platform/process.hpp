// What this process is called by others. Informative: nobody decides by it.
#pragma once

#include <cstdint>

namespace ringmain::platform {

struct ProcessIdentity {
    std::uint32_t pid = 0;            ///< In its own pid namespace.
    std::uint64_t pid_namespace = 0;  ///< Inode of that namespace, or 0.
    std::uint64_t start_ticks = 0;    ///< Start time in clock ticks since boot, or 0.
};

[[nodiscard]] ProcessIdentity this_process() noexcept;

}  // namespace ringmain::platform
