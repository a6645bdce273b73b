// What a member may ask for.
#pragma once

#include "ringmain/group.hpp"

namespace ringmain {

/// Throws Error invalid_argument: names the option, its value and its range.
void check_group_options(const GroupOptions& options);

}  // namespace ringmain
