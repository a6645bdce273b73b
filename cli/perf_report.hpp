// What `ringmain perf` prints.
#pragma once

#include <string>

#include "perf_plan.hpp"

namespace ringmain::cli::perf {

[[nodiscard]] std::string report_to_text(const Plan& plan, const Results& results);
[[nodiscard]] std::string report_to_json(const Plan& plan, const Results& results);

}  // namespace ringmain::cli::perf
