// What the daemon serves to others beside the keeper: parts that are started after it and stopped before it.
#pragma once

#include <memory>
#include <vector>

#include "live_configuration.hpp"
#include "ringmain/broker.hpp"

namespace ringmain::daemon {

class Log;
class KeeperThread;
class TopicQuotas;

/// What a service is given; everything in it outlives the service.
struct ServiceContext {
    const Broker& broker;
    TopicQuotas& quotas;
    const LiveConfiguration& configuration;
    const KeeperThread& keeper;
    Log& log;
};

class Service {
public:
    Service() = default;
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;
    virtual ~Service() = default;

    /// Throws Error if it cannot serve: the daemon then does not start. Returns when it can be reached.
    virtual void start() = 0;
    /// Within half a second; nothing of it runs afterwards. Also after a start that threw.
    virtual void stop() noexcept = 0;
};

/// All services of a daemon, not started, in the order in which they are started.
[[nodiscard]] std::vector<std::unique_ptr<Service>> make_services(const ServiceContext& context);

}  // namespace ringmain::daemon
