// Where `group reset --to` goes.
#pragma once

#include <string_view>

#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

/// earliest | latest | OFFSET | @TIME (see times.hpp) | +N | -N | -DURATION (digits, then ms, s, m, h or d).
/// Throws UsageError naming option and text.
[[nodiscard]] ResetTarget parse_reset_target(std::string_view option, std::string_view text);

}  // namespace ringmain::cli
