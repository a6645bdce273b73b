// Looking for contradictions in the work on a topic's records: settings, workers and words that nobody would write.
#pragma once

#include <memory>

#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Of every group that has work. What live workers change meanwhile is not damage.
void verify_work(const std::shared_ptr<const TopicFiles>& topic, VerifyReport& report);

}  // namespace ringmain
