// The daemon's socket: the API for everybody on this host who may connect, and metrics on a port if one is configured.
#pragma once

#include <memory>

#include "service.hpp"

namespace ringmain::daemon {

[[nodiscard]] std::unique_ptr<Service> make_http_service(const ServiceContext& context);

}  // namespace ringmain::daemon
