// What changes when the configuration is read again.
#pragma once

#include <string>
#include <vector>

#include "configuration.hpp"

namespace ringmain::daemon {

/// Something that only a restart changes.
struct RestartNeeded {
    std::string key;
    std::string now;
    std::string wanted;
};

/// Puts the values of `now` into `next` where only a restart changes them, and answers which were others.
[[nodiscard]] std::vector<RestartNeeded> keep_until_restart(const Configuration& now, Configuration& next);

/// The keys that are others, apart from topics, in words for a log: "log.level", "quotas".
[[nodiscard]] std::vector<std::string> changed_keys(const Configuration& now, const Configuration& next);

}  // namespace ringmain::daemon
