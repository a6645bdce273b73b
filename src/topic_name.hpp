// Which names a topic may have: Kafka's rule.
#pragma once

#include <string_view>

#include "ringmain/topic_options.hpp"  // check_topic_name

namespace ringmain {

/// 1 to 249 of [a-zA-Z0-9._-], not "." or "..". Such a name is always a safe file name.
[[nodiscard]] bool is_topic_name(std::string_view name) noexcept;

}  // namespace ringmain
