// Walking all files of a broker read-only, looking for contradictions.
#pragma once

#include <string_view>

#include "broker_impl.hpp"

namespace ringmain {

/// One topic, or all if `topic` is empty. What live processes change meanwhile is not damage: whatever looks wrong is
/// judged again behind the log start, as a reader does. Throws Error not_found for an unknown topic.
[[nodiscard]] VerifyReport verify_topics(const Broker::Impl& broker, std::string_view topic);

}  // namespace ringmain
