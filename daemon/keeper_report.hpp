// What /v1/keeper tells.
#pragma once

#include <string>

#include "keeper_thread.hpp"

namespace ringmain::daemon {

/// One object of JSON on one line.
[[nodiscard]] std::string keeper_to_json(const KeeperThread& keeper);

}  // namespace ringmain::daemon
