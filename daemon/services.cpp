// The list of the daemon's services.
#include "service.hpp"

namespace ringmain::daemon {

std::vector<std::unique_ptr<Service>> make_services(const ServiceContext&) { return {}; }

}  // namespace ringmain::daemon
