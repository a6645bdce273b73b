// What a member may ask for.
#pragma once

#include "ringmain/group.hpp"

namespace ringmain {

/// Said of kDeadLettersGroup. A member would commit letters that nobody has replayed, and a topic with such a group
/// counts as a dead-letter topic.
inline constexpr const char* kReservedGroupText =
    "cannot be: the name is reserved for the group that keeps dead letters; choose another one";

/// Throws Error invalid_argument: names the option, its value and its range.
void check_group_options(const GroupOptions& options);

}  // namespace ringmain
