// Faults that are planted in production code for the explorer to find: a site by the text of its line, so that lines
// may move.
#pragma once

#include <string>

#include "explore/explorer.hpp"

namespace ringmain::explore {

/// The mutation of the operation that is called in the one line of `file` (below src) that contains `text`, or `below`
/// lines behind it. Throws std::invalid_argument unless there is exactly one.
[[nodiscard]] Mutation planted(const std::string& file, const std::string& text, Operation operation,
                               Weakening weakening, int below = 0);

/// What the explorer finds with it, mostly at random; empty: nothing. The word that is found repeats it, and
/// the same choices without the fault violate nothing of it: both are looked at here.
[[nodiscard]] std::string found_in(const std::string& scenario, const Mutation& mutation);

}  // namespace ringmain::explore
