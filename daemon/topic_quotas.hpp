// Creation of topics within what the broker's quotas allow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
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

    /// As Broker::create_topic, and Error limit (names the quota, what is used and what is needed). Several at one time
    /// never take more together than the quotas allow. Without an id the topic gets a random one.
    TopicDescription create_topic(std::string_view name, const TopicOptions& options,
                                  const std::function<bool()>& stop = {}, const std::optional<TopicId>& id = {});

    /// What topics take now, those included that others than the daemon made and those that are being made.
    [[nodiscard]] QuotaUsage usage() const;

private:
    class Reservation;
    struct Reserved {
        std::uint64_t creations = 0;  // of that name at the same time: one of them makes it
        std::uint64_t bytes = 0;      // of the largest
    };
    // Both with the mutex held.
    [[nodiscard]] QuotaUsage used() const;
    void check(std::string_view name, std::uint64_t needed) const;

    Broker broker_;
    const LiveConfiguration& configuration_;
    mutable std::mutex mutex_;                               // between the look at what is used and the reservation
    std::map<std::string, Reserved, std::less<>> reserved_;  // by creations under way
};

}  // namespace ringmain::daemon
