// Judging what the queue did: every comparison is exact.
#pragma once

#include <vector>

#include "demo_check.hpp"
#include "orders_report.hpp"

namespace ringmain::cli::orders {

[[nodiscard]] std::vector<demo::Check> check_labels(const RunResult& result);

}  // namespace ringmain::cli::orders
