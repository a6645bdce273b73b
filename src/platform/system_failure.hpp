// What a failed system call is called in ringmain::Error.
#pragma once

#include <filesystem>
#include <string_view>

#include "ringmain/error.hpp"

namespace ringmain::platform {

/// The Error for a system call on a path that failed with `error`: not_found, permission_denied (with owner and mode of
/// what refused, and the missing right), no_space, limit (descriptors) or io. The text names the call, the path and errno.
[[nodiscard]] Error system_failure(std::string_view action, const std::filesystem::path& path, int error);

}  // namespace ringmain::platform
