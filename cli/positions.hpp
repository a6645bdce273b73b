// The position of `consume -o`.
#pragma once

#include <string_view>

#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

/// earliest | latest | OFFSET | -N (the last N) | @TIME (see times.hpp). Throws UsageError naming option and text.
[[nodiscard]] Position parse_position(std::string_view option, std::string_view text);

/// Says so on stderr if a group or queue is to begin at an offset that the log has not reached.
void note_if_beyond_end(std::string_view topic, const GroupLag& lag);

}  // namespace ringmain::cli
