// What `ringmaind --check` prints: what a daemon with that configuration would do.
#pragma once

#include "configuration.hpp"

namespace ringmain::daemon {

/// Prints it on stdout; looks at the broker directory, if there is one, and touches nothing (a port that is configured
/// is taken for a moment). False: a daemon of this user would not start, or log an error: a topic that exists with
/// other options or has no room, an owner that may not be set, a port that is taken.
[[nodiscard]] bool print_check_report(const Configuration& configuration);

}  // namespace ringmain::daemon
