// Files that this process has mapped.
#pragma once

#include "platform/file_identity.hpp"

namespace ringmain::platform {

/// Whether the file is mapped here and was unlinked, or replaced, since it was opened: no path can name it again. False
/// also where the kernel does not tell. Reads /proc/self/maps.
[[nodiscard]] bool is_unlinked(FileIdentity file);

}  // namespace ringmain::platform
