// What every scenario of the structures has to come to: no violation, in as many executions as there are or a million.
#pragma once

#include "explore/explorer.hpp"
#include "support/catch.hpp"

namespace ringmain::explore {

inline void holds(const char* scenario) {
    const Outcome outcome = explore_and_report(scenario);
    CHECK(outcome.violation.empty());
    CHECK((outcome.exhausted || outcome.executions >= 1'000'000));
}

}  // namespace ringmain::explore
