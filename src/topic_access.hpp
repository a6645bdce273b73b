// Who may use a topic's files.
#pragma once

#include <string_view>

#include "ringmain/topic_options.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Throws Error invalid_argument (topic, value, range).
void check_topic_access(std::string_view topic, const TopicAccess& access);

/// Broker::set_access of an open topic. Throws Error topic_deleted if another one has its place by now.
void set_access(const TopicFiles& topic, const TopicAccess& access);

}  // namespace ringmain
