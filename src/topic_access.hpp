// Who may use a topic's files.
#pragma once

#include <string_view>

#include "ringmain/topic_options.hpp"

namespace ringmain {

/// Throws Error invalid_argument (topic, value, range).
void check_topic_access(std::string_view topic, const TopicAccess& access);

}  // namespace ringmain
