// The list of the daemon's services.
#include "http_service.hpp"
#include "service.hpp"

namespace ringmain::daemon {

std::vector<std::unique_ptr<Service>> make_services(const ServiceContext& context) {
    std::vector<std::unique_ptr<Service>> services;
    services.push_back(make_http_service(context));
    return services;
}

}  // namespace ringmain::daemon
