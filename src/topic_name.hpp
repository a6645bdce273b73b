// Which names a topic may have: Kafka's rule.
#pragma once

#include <string_view>

namespace ringmain {

/// 1 to 249 of [a-zA-Z0-9._-], not "." or "..". Such a name is always a safe file name.
[[nodiscard]] bool is_topic_name(std::string_view name) noexcept;

/// Throws Error invalid_argument, with the rule, unless is_topic_name.
void check_topic_name(std::string_view name);

}  // namespace ringmain
