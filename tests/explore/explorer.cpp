// Exploring scenarios in order, at random, and again by a word.
#include "explore/explorer.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <random>
#include <stdexcept>

#include "concurrency/seed.hpp"
#include "explore/engine.hpp"

namespace ringmain::explore {

namespace {

std::unique_ptr<Scenario> scenario_named(const std::string& name) {
    std::unique_ptr<Scenario> scenario = make_scenario(name);
    if (scenario == nullptr)
        throw std::invalid_argument("there is no scenario " + name);
    return scenario;
}

std::string replay_word(const std::string& scenario, const Choices& choices, const Mutation& mutation) {
    std::string word = scenario + ':' + choices.word();
    if (mutation.weakening != Weakening::none)
        word += '@' + mutation.text();
    return word;
}

std::string text_of(const Bounds& bounds) {
    std::string text = std::to_string(bounds.preemptions) + " preemptions, " + std::to_string(bounds.stale) + " stale";
    if (bounds.deaths != 0)
        text += ", " + std::to_string(bounds.deaths) + " deaths";
    if (bounds.stops != 0)
        text += ", " + std::to_string(bounds.stops) + " stops";
    return text;
}

void print(const std::string& scenario, const Bounds& bounds, const Outcome& outcome, std::uint64_t seed) {
    std::cout << "explore " << scenario << ": " << outcome.executions << " executions (";
    if (outcome.exhausted) {
        std::cout << "all within " << text_of(bounds);
    } else {
        std::cout << outcome.random_executions << " of them random, RINGMAIN_SEED=" << seed << ", within "
                  << text_of(bounds);
    }
    std::cout << "), " << outcome.steps << " steps, " << outcome.cpu_seconds << " s of CPU, violations "
              << (outcome.violated() ? 1 : 0) << std::endl;
}

std::uint64_t any_seed() {
    std::random_device device;
    return test::from_environment("RINGMAIN_SEED", device());
}

}  // namespace

Budget test_budget() {
    Budget budget;
    if (test::from_environment("RINGMAIN_LONG", 0) != 0) {
        budget.in_order *= 10;
        budget.altogether *= 10;
    }
    return budget;
}

Outcome explore(const std::string& name, const Budget& budget, const Mutation& mutation, std::uint64_t seed) {
    const auto scenario = scenario_named(name);
    const std::clock_t begun = std::clock();
    const Bounds& bounds = scenario->bounds();
    Engine engine(*scenario);
    engine.sites().mutate(mutation);
    Choices& choices = engine.choices();
    choices.enumerate();
    Outcome outcome;
    bool more = true;
    while (more) {
        if (!engine.run()) {
            outcome.violation = engine.violation();
            outcome.replay = replay_word(name, choices, mutation);
        }
        ++outcome.executions;
        outcome.random_executions += outcome.executions > budget.in_order ? 1 : 0;
        if (outcome.violated() || outcome.executions >= budget.altogether)
            break;
        more = choices.advance();
        outcome.exhausted = !more;
        if (outcome.executions == budget.in_order)
            choices.draw(seed, {0, bounds.preemptions, bounds.stale, bounds.deaths + bounds.stops, 0});
    }
    outcome.steps = engine.steps();
    outcome.sites = engine.sites().reached();
    outcome.cpu_seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    return outcome;
}

Outcome explore_and_report(const std::string& scenario) {
    const std::uint64_t seed = any_seed();
    const Outcome outcome = explore(scenario, test_budget(), {}, seed);
    print(scenario, scenario_named(scenario)->bounds(), outcome, seed);
    if (outcome.violated()) {
        std::cout << "RINGMAIN_EXPLORE_REPLAY=" << outcome.replay << '\n';
        for (const std::string& step : replay(outcome.replay).steps)
            std::cout << step << '\n';
        std::cout << std::flush;
    }
    return outcome;
}

Replayed replay(const std::string& word) {
    const std::size_t colon = word.find(':');
    const std::size_t at = std::min(word.find('@'), word.size());
    if (colon == std::string::npos || colon > at)
        throw std::invalid_argument("a replay is scenario:choices or scenario:choices@mutation, not " + word);
    const auto scenario = scenario_named(word.substr(0, colon));
    Engine engine(*scenario);
    if (at != word.size())
        engine.sites().mutate(Mutation::parse(word.substr(at + 1)));
    if (!engine.choices().follow(word.substr(colon + 1, at - colon - 1)))
        throw std::invalid_argument("no choices: " + word);
    engine.trace(true);
    Replayed replayed;
    if (!engine.run())
        replayed.violation = engine.violation();
    replayed.steps = engine.traced();
    return replayed;
}

}  // namespace ringmain::explore
