// Creation of topics within what the broker's quotas allow.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

#include "live_configuration.hpp"
#include "ringmain/broker.hpp"

namespace ringmain::daemon {

struct QuotaUsage {
    std::uint64_t topics = 0;
    std::uint64_t bytes = 0;
};

/// Everybody who creates topics in the daemon does it here. Thread safety: all calls from any thread.
class TopicQuotas {
public:
    /// The quotas are those of the live configuration at each call.
    TopicQuotas(const Broker& broker, const LiveConfiguration& configuration)
        : broker_(broker), configuration_(configuration) {}

    /// As Broker::create_topic, one at a time, and Error limit (names the quota, what is used and what is needed).
    TopicDescription create_topic(std::string_view name, const TopicOptions& options,
                                  const std::function<bool()>& stop = {});

    /// What topics take now, those included that others than the daemon made.
    [[nodiscard]] QuotaUsage usage() const;

private:
    void check(std::string_view name, const TopicOptions& options) const;

    Broker broker_;
    const LiveConfiguration& configuration_;
    std::mutex creation_;  // between the look at what is used and the use
};

}  // namespace ringmain::daemon
