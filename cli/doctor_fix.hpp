// What `ringmain doctor --fix` does: nothing that could take anything from anybody who lives.
#pragma once

#include <string>
#include <vector>

#include "ringmain/broker.hpp"

namespace ringmain::cli {

/// Runs a keeper until it finds nothing more to do, and removes a socket that nobody listens on. Says what it did, in
/// lines.
[[nodiscard]] std::vector<std::string> fix(const Broker& broker);

}  // namespace ringmain::cli
