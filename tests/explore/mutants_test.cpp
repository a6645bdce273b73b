// Every order, fence, compare-and-swap and look of the structures that a scenario reaches, weakened one at a time.
//
// A mutant is killed when a scenario is violated by it. One that survives is either listed in survivors.txt with the
// reason, or a failure: a scenario is missing, or the order is not needed.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
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
            if (site.where.find("tests/") != std::string::npos)
                continue;
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

TEST_CASE("Mutants: every weakened site is found by a scenario, or is listed with the reason why not") {
    if (ringmain::test::from_environment("RINGMAIN_LONG", 0) == 0)
        SKIP("all mutants take an hour; RINGMAIN_LONG=1 runs them");
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
