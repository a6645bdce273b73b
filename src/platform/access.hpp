// How a file is opened.
#pragma once

#include <cstdint>

namespace ringmain::platform {

enum class Access : std::uint8_t { read_only, read_write };

}  // namespace ringmain::platform
