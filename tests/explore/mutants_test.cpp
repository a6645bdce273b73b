// Every order, fence, compare-and-swap and look of the structures that a scenario reaches, weakened one at a time, and
// the list of what becomes of each (mutants.txt).
//
// A mutant is killed when a scenario is violated by it. One that the list does not have is hunted at once, and the test
// says what the list is to say. Those that survive with a reason are hunted with RINGMAIN_LONG=1; the ones whose text
// contains a given one alone:
//
//   RINGMAIN_LONG=1 RINGMAIN_MUTANTS=partition_log/tickets.hpp ringmain_explore_tests 'Mutants: no scenario*'
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "concurrency/seed.hpp"
#include "explore/explorer.hpp"
#include "explore/mutant_list.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringmain::explore;

// Enough to reach what a scenario reaches at all.
constexpr Budget kLook{1'000, 5'000};
// A killer kills long before.
constexpr Budget kKill{2'000, 1'000'000};
// All scenarios with a little first: so the one that is listed is one that kills soon.
constexpr std::array kHunts = {Budget{200, 2'000}, Budget{1'000, 12'000}, Budget{2'000, 100'000}};

// A mutant that scenarios reach.
struct Target {
    Mutation mutation;
    std::vector<std::string> scenarios;  // that reach it, those that do so most often first
};
using Targets = std::map<Mutant, Target>;

Targets find_targets() {
    Targets targets;
    std::map<Mutant, std::multimap<std::uint64_t, std::string, std::greater<>>> reached;
    for (const std::string& scenario : scenario_names()) {
        const Outcome look = explore(scenario, kLook);
        for (const Site& site : look.sites) {
            if (!is_of_structures(site))
                continue;
            INFO(scenario << " is violated without any mutant: " << look.replay);
            REQUIRE_FALSE(look.violated());
            for (const Mutation& mutation : mutations_of(site)) {
                const Mutant mutant = mutant_of(site, mutation.weakening);
                targets[mutant].mutation = mutation;
                reached[mutant].emplace(site.reached, scenario);
            }
        }
    }
    for (auto& [mutant, target] : targets) {
        for (const auto& [times, scenario] : reached[mutant])
            target.scenarios.push_back(scenario);
    }
    return targets;
}

const Targets& targets() {
    static const Targets found = find_targets();
    return found;
}

// What the explorer says of a mutant: "killed by SCENARIO", or nothing.
std::string hunt(const Target& target) {
    for (const Budget& budget : kHunts) {
        for (const std::string& scenario : target.scenarios) {
            const Outcome outcome = explore(scenario, budget, target.mutation);
            if (outcome.violated()) {
                std::cout << "  " << outcome.violation << ", after " << outcome.executions << " executions\n";
                return "killed by " + scenario;
            }
        }
    }
    return {};
}

std::string pattern() {
    const char* const text = std::getenv("RINGMAIN_MUTANTS");
    return text == nullptr ? "" : text;
}

// What is wrong, all of it, and how much.
class Faults {
public:
    void add(const std::string& what) {
        std::cout << what << std::endl;
        ++count_;
    }
    [[nodiscard]] unsigned count() const noexcept { return count_; }

private:
    unsigned count_ = 0;
};

// Whether an explanation begins with a test: its file, and its name as it stands there.
bool names_a_test(const std::string& explanation) {
    const std::size_t quote = explanation.find(" \"");
    if (quote == std::string::npos)
        return false;
    const std::size_t end = explanation.find('"', quote + 2);
    std::ifstream file(std::string(RINGMAIN_SOURCE_DIR) + '/' + explanation.substr(0, quote));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return end != std::string::npos && text.find(explanation.substr(quote + 1, end - quote)) != std::string::npos;
}

void print_figures(const MutantList& list) {
    std::uint64_t killed = 0;
    std::set<std::string> killers;
    std::map<std::string, std::uint64_t> survivors;
    for (const auto& [mutant, fate] : list) {
        if (fate.survives()) {
            ++survivors[fate.reason];
        } else {
            ++killed;
            killers.insert(fate.killer);
        }
    }
    std::cout << "mutants: " << killed << " killed by " << killers.size() << " scenarios, " << list.size() - killed
              << " survive with a reason:";
    for (const auto& [reason, count] : survivors)
        std::cout << ' ' << count << " (" << reason << ')';
    std::cout << std::endl;
}

}  // namespace

TEST_CASE("Mutants: the list has every mutant that a scenario reaches, and no other") {
    const MutantList list = read_mutant_list();
    Faults faults;
    for (const auto& [mutant, target] : targets()) {
        if (list.count(mutant) != 0)
            continue;
        const std::string killed = hunt(target);
        faults.add("not in mutants.txt: " + text_of(mutant) + ": " +
                   (killed.empty() ? "survives; a scenario is missing, or it is to say why it may" : killed));
    }
    for (const auto& [mutant, fate] : list) {
        if (targets().count(mutant) == 0)
            faults.add("to be taken out of mutants.txt, no scenario reaches it: " + text_of(mutant));
    }
    print_figures(list);
    CHECK(faults.count() == 0);
}

TEST_CASE("Mutants: what other tests kill has a test, where the list says") {
    Faults faults;
    for (const auto& [mutant, fate] : read_mutant_list()) {
        if ((fate.reason == "hostile bytes" || fate.reason == "unit test") && !names_a_test(fate.explanation))
            faults.add("no such test: " + text_of(mutant) + ": " + fate.explanation);
    }
    CHECK(faults.count() == 0);
}

TEST_CASE("Mutants: each is killed by the scenario that the list names") {
    Faults faults;
    for (const auto& [mutant, fate] : read_mutant_list()) {
        const Mutation mutation = mutation_of(mutant);
        if (fate.survives() || mutation.weakening == Weakening::none)
            continue;
        if (!explore(fate.killer, kKill, mutation).violated())
            faults.add(text_of(mutant) + " is not killed by " + fate.killer +
                       " any more: a hunt tells whether another scenario does (mutants_test.cpp)");
    }
    CHECK(faults.count() == 0);
}

TEST_CASE("Mutants: no scenario kills what the list says survives") {
    if (ringmain::test::from_environment("RINGMAIN_LONG", 0) == 0)
        SKIP("hunting what survives takes minutes to an hour; RINGMAIN_LONG=1 runs it");
    const MutantList list = read_mutant_list();
    Faults faults;
    for (const auto& [mutant, target] : targets()) {
        const auto listed = list.find(mutant);
        if (listed == list.end() || !listed->second.survives() || text_of(mutant).find(pattern()) == std::string::npos)
            continue;
        const std::string killed = hunt(target);
        std::cout << "mutant " << text_of(mutant) << ": " << (killed.empty() ? "survives" : killed) << std::endl;
        if (!killed.empty())
            faults.add("mutants.txt is to say: " + killed);
    }
    CHECK(faults.count() == 0);
}
