// What the keeper did, as a line of the log.
#pragma once

#include "log.hpp"
#include "ringmain/keeper.hpp"

namespace ringmain::daemon {

[[nodiscard]] LogLine line_of(const KeeperEvent& event);

}  // namespace ringmain::daemon
