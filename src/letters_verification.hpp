// Looking for contradictions in what became of a topic's dead letters.
#pragma once

#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Adds what is wrong with the topic's file `letters` to the report, if there is one. Any bytes are good input.
void verify_letters(const TopicFiles& topic, VerifyReport& report);

}  // namespace ringmain
