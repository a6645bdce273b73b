// The position of `consume -o`.
#pragma once

#include <string_view>

#include "ringmain/consumer.hpp"

namespace ringmain::cli {

/// earliest | latest | OFFSET | -N (the last N) | @TIME (see times.hpp). Throws UsageError naming option and text.
[[nodiscard]] Position parse_position(std::string_view option, std::string_view text);

}  // namespace ringmain::cli
