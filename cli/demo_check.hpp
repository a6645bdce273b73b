// A comparison that a demo makes at its end.
#pragma once

#include <string>

namespace ringmain::cli::demo {

struct Check {
    std::string name;
    bool good = false;
    std::string detail;  ///< The numbers that were compared.
};

}  // namespace ringmain::cli::demo
