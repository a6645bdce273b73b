// Who holds the log start of a full topic, in words.
#pragma once

#include <cstdint>
#include <string>

#include "ringmain/broker.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::cli {

/// E.g. "gate 'archiver' (pid 4711, stopped)" or "group 'billing', which has no member there". Asks the files, and
/// /proc for the process; what cannot be found out is left out.
[[nodiscard]] std::string describe_gate(const Broker& broker, const std::string& topic, std::uint32_t partition,
                                        const GateDescription& gate);

}  // namespace ringmain::cli
