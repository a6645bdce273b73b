// What this process's umask is.
#pragma once

#include <cstdint>
#include <optional>

namespace ringmain::platform {

/// Read without changing it, as umask(2) would for a moment. Nothing: the kernel does not tell.
[[nodiscard]] std::optional<std::uint32_t> current_umask();

}  // namespace ringmain::platform
