// Bytes for human eyes.
#pragma once

#include <string>

#include "ringmain/record.hpp"

namespace ringmain::cli {

/// As xxd: position, sixteen bytes in pairs, and the printable ASCII among them; one line for each sixteen.
[[nodiscard]] std::string hex_dump(Bytes bytes);

}  // namespace ringmain::cli
