// Where the queues and groups of topics send their dead letters, and whether letters would come back to the topic that
// they left.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "ringmain/dead_letters.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// The topics that the queues and groups with retries of a topic send their letters to, by their settings; several may
/// name the same. What cannot be read is left out. Throws Error: forked, io.
[[nodiscard]] std::vector<std::string> topics_for_letters_of(const Broker::Impl& broker, const std::string& topic);

/// The queues and groups with retries of all topics whose letters go to `letters`, that very topic, by topic and name. What
/// cannot be read is left out. Throws Error: forked, io.
[[nodiscard]] std::vector<LetterSender> senders_of_letters_to(const Broker::Impl& broker, const TopicFiles& letters);

/// The way back from `letters` to `origin`, for people: "'a.dlq' (group 'q') -> 'b' (group 'r') -> 'a'"; nothing if
/// there is none. Reads the settings of all queues and groups with retries on the way; topics count by their names, so
/// that a cycle is one also when a topic on it is made anew. What cannot be read is passed over: its own letters do not
/// go anywhere either. Throws Error: forked, io.
[[nodiscard]] std::optional<std::string> way_of_letters_back(const Broker::Impl& broker, std::string_view origin,
                                                             std::string_view letters);

}  // namespace ringmain
