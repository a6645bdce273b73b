// What `ringmaind --check` prints: what a daemon with that configuration would do.
#pragma once

#include "configuration.hpp"

namespace ringmain::daemon {

/// Prints it on stdout; looks at the broker directory, if there is one, and touches nothing. False: the daemon would
/// run, but log an error, e.g. a topic that exists with other options.
[[nodiscard]] bool print_check_report(const Configuration& configuration);

}  // namespace ringmain::daemon
