// Every order, fence, compare-and-swap and look of the structures that a scenario reaches, weakened one at a time.
//
// A mutant is killed when a scenario is violated by it. What survives is printed, too: a scenario is missing, the
// budget was too small, or the order is not needed there (docs/verification.md).
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "concurrency/seed.hpp"
#include "explore/explorer.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringmain::explore;

// Enough to reach what a scenario reaches at all.
constexpr Budget kLook{2'000, 4'000};
// In order for what a short schedule shows, at random for what needs a long one.
constexpr Budget kHunt{10'000, 60'000};

struct Target {
    Site site;
    std::vector<std::string> scenarios;  // that reach it, those that do so most often first
};

std::map<std::string, Target> find_targets() {
    std::map<std::string, Target> targets;
    std::map<std::string, std::multimap<std::uint64_t, std::string, std::greater<>>> reached;
    for (const std::string& scenario : scenario_names()) {
        for (const Site& site : explore(scenario, kLook).sites) {
            if (site.where.starts_with("explore/"))
                continue;  // a scenario's own
            targets[site.where].site = site;
            reached[site.where].emplace(site.reached, scenario);
        }
    }
    for (auto& [where, target] : targets)
        for (const auto& [times, scenario] : reached[where])
            target.scenarios.push_back(scenario);
    return targets;
}

// What the explorer says of a mutant: its killer, or nothing.
std::string hunt(const Target& target, const Mutation& mutation) {
    for (const std::string& scenario : target.scenarios) {
        const Outcome outcome = explore(scenario, kHunt, mutation);
        if (outcome.violated())
            return scenario + ": " + outcome.violation + ", after " + std::to_string(outcome.executions) +
                   " executions";
    }
    return {};
}

}  // namespace

TEST_CASE("Mutants: scenarios hunt every weakened site that they reach") {
    if (ringmain::test::from_environment("RINGMAIN_LONG", 0) == 0)
        SKIP("all mutants take hours; RINGMAIN_LONG=1 runs them");
    std::uint64_t killed = 0;
    std::uint64_t survived = 0;
    for (const auto& [where, target] : find_targets()) {
        for (const Mutation& mutation : mutations_of(target.site)) {
            const std::string killer = hunt(target, mutation);
            std::cout << "mutant " << mutation.text() << (killer.empty() ? ": survived" : ": killed by " + killer)
                      << std::endl;
            (killer.empty() ? survived : killed) += 1;
        }
    }
    std::cout << "mutants: " << killed << " killed, " << survived << " survived" << std::endl;
    CHECK(killed >= 30);
}
