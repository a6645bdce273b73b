// Explores a scenario: all executions within its bounds, or as many as the budget allows, then random ones.
//
// A violation is reported with one word, "scenario:choices" or "scenario:choices@mutation". To see its steps:
//
//   RINGMAIN_EXPLORE_REPLAY=word build/test/tests/explore/ringmain_explore_tests 'RINGMAIN_EXPLORE_REPLAY*'
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explore/scenario.hpp"
#include "explore/sites.hpp"

namespace ringmain::explore {

struct Budget {
    std::uint64_t in_order = 600'000;  // executions taken in order; if these were not all, random ones follow
    std::uint64_t altogether = 1'000'000;
};

/// The budget of tests: ten times as large with RINGMAIN_LONG=1.
[[nodiscard]] Budget test_budget();

struct Outcome {
    std::string violation;  // empty: nothing was violated
    std::string replay;     // the word that repeats it
    std::uint64_t executions = 0;
    std::uint64_t random_executions = 0;
    std::uint64_t steps = 0;
    bool exhausted = false;  // these were all
    double cpu_seconds = 0;
    std::vector<Site> sites;  // that were reached

    [[nodiscard]] bool violated() const noexcept { return !violation.empty(); }
};

/// Stops at the first violation. The seed is that of the random executions.
[[nodiscard]] Outcome explore(const std::string& scenario, const Budget& budget, const Mutation& mutation = {},
                              std::uint64_t seed = 1);
/// The same, with one line about it, and about a violation every step; for tests of what must hold.
[[nodiscard]] Outcome explore_and_report(const std::string& scenario);

struct Replayed {
    std::string violation;
    std::vector<std::string> steps;
};
/// Repeats the execution that a word names.
[[nodiscard]] Replayed replay(const std::string& word);

}  // namespace ringmain::explore
