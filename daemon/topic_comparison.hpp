// What is to be done about a topic that the configuration wants.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configuration.hpp"
#include "ringmain/broker.hpp"

namespace ringmain::daemon {

struct TopicComparison {
    bool exists = false;
    std::vector<std::string> fixed;      ///< Options that cannot be changed, "records 64, wanted 128".
    std::optional<Retention> retention;  ///< Found, if it is another one than wanted.
    std::optional<TopicAccess> access;   ///< Found, if it is not as wanted.
    [[nodiscard]] bool as_wanted() const noexcept { return exists && fixed.empty() && !retention && !access; }
};

/// Looks only. Throws Error as Broker::describe_topic, but not not_found.
[[nodiscard]] TopicComparison compare(const Broker& broker, const TopicPlan& plan);

/// For people, with units: "age 7 d, bytes 1 GiB", or "no limit".
[[nodiscard]] std::string to_text(const Retention& retention);

}  // namespace ringmain::daemon
