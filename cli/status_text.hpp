// What a status of the data path means for somebody at a shell.
#pragma once

#include <string>

#include "ringmain/status.hpp"

namespace ringmain::cli {

/// E.g. "topic_deleted: the topic was deleted meanwhile".
[[nodiscard]] std::string explain(Status status);

}  // namespace ringmain::cli
