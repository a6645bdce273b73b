// Looking for contradictions in a topic's groups.
#pragma once

#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Adds to the report. What members change meanwhile is not damage: a group that changed while it was read is not judged.
void verify_groups(const TopicFiles& topic, VerifyReport& report);

}  // namespace ringmain
