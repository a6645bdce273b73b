// The rights of what comes to be in a topic's directory after the topic: those of the topic.
#pragma once

#include <filesystem>

#include "ringmain/topic_options.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// How the rights are given: one of platform/rights.hpp.
using GivesRights = void (*)(const std::filesystem::path& made, const TopicAccess& access);

/// Whoever may use the topic's groups may use what was made. A user who may write the topic and does not own it cannot
/// give files away: then they are his, if others may use them as well as the owner. Throws Error: permission_denied,
/// io.
void give_rights_of_topic(const TopicFiles& topic, const std::filesystem::path& made, GivesRights give);

}  // namespace ringmain
