// Whether dead letters would come back to the topic that they left: where all queues and groups on the way send theirs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker_impl.hpp"

namespace ringmain {

/// The way back from `letters` to `origin`, for people: "'a.dlq' (group 'q') -> 'b' (group 'r') -> 'a'"; nothing if
/// there is none. Reads the settings of all queues and groups with retries on the way; topics count by their names, so
/// that a cycle is one also when a topic on it is made anew. What cannot be read is passed over: its own letters do not
/// go anywhere either. Throws Error: forked, io.
[[nodiscard]] std::optional<std::string> way_of_letters_back(const Broker::Impl& broker, std::string_view origin,
                                                             std::string_view letters);

}  // namespace ringmain
