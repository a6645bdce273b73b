// A process is killed, or stopped and resumed late, at every instruction of what it does to a partition.
//
// The quick run takes every instruction of publishing in the usual states; elsewhere it kills after each effect and stops after
// each access, which is as good (effects.hpp says why). RINGMAIN_LONG=1 takes every instruction of all. RINGMAIN_STEP=text takes only the scenarios whose names contain the text.
#include <cstdlib>
#include <string>
#include <vector>

#include "crash/step_driver.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::crash;

namespace {

constexpr std::uint64_t kAll = 1'000'000;
constexpr std::uint64_t kSample = 24;
constexpr std::uint64_t kPairedStops = 4;

bool long_run() { return std::getenv("RINGMAIN_LONG") != nullptr; }

bool wanted(const Scenario& scenario) {
    const char* text = std::getenv("RINGMAIN_STEP");
    return text == nullptr || scenario.name.find(text) != std::string::npos;
}

void append(std::vector<Scenario>& to, const std::vector<Scenario>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

void require_clean(const Tally& total) {
    CHECK(total.points > 0);
    CHECK(total.faults.lost == 0);
    CHECK(total.faults.torn == 0);
    CHECK(total.faults.duplicated == 0);
    CHECK(total.faults.out_of_order == 0);
    CHECK(total.faults.stuck == 0);
}

Tally run(const std::vector<Scenario>& scenarios, Fate fate, std::uint64_t sample) {
    stay_on_one_core();
    print_header();
    Tally total;
    for (const Scenario& scenario : scenarios) {
        if (!wanted(scenario))
            continue;
        const Tally tally = step_through(scenario, fate, scenario.main || long_run() ? kAll : sample);
        print(tally);
        INFO(tally.name);
        CHECK_FALSE(tally.first_bad);
        total += tally;
    }
    total.name = fate == Fate::killed ? "total, killed" : "total, stopped and resumed three laps later";
    print(total);
    return total;
}

std::vector<Scenario> housekeeping() {
    std::vector<Scenario> scenarios = ticket_scenarios(0);
    append(scenarios, gate_scenarios(0));
    return scenarios;
}

// Publishing and the exclusive producer with offsets around `first_offset`.
std::vector<Scenario> wrap_sample(std::uint64_t first_offset) {
    std::vector<Scenario> scenarios = publish_scenarios(first_offset);
    append(scenarios, attach_scenarios(first_offset));
    append(scenarios, gate_scenarios(first_offset));
    for (Scenario& scenario : scenarios)
        scenario.main = false;
    return scenarios;
}

}  // namespace

TEST_CASE("step_kill: a producer killed at every instruction of publish harms nobody") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    const Tally total = run(publish_scenarios(0), Fate::killed, kSample);
    if (std::getenv("RINGMAIN_STEP") == nullptr)
        CHECK(total.points >= 1'500);
    require_clean(total);
}

TEST_CASE("step_stop: a producer stopped at every instruction of publish harms nobody, nor when it wakes up late") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    const Tally total = run(publish_scenarios(0), Fate::resumed, kSample);
    if (std::getenv("RINGMAIN_STEP") == nullptr)
        CHECK(total.points >= 1'500);
    require_clean(total);
}

TEST_CASE("step_kill: tickets, closing, the keeper and gates can be killed anywhere") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    require_clean(run(housekeeping(), Fate::killed, kSample));
}

TEST_CASE("step_stop: tickets, closing, the keeper and gates can be stopped anywhere") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    require_clean(run(housekeeping(), Fate::resumed, kSample));
}

TEST_CASE("step_kill: attaching, detaching and exclusive publishing can be killed anywhere") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    require_clean(run(attach_scenarios(0), Fate::killed, kSample));
}

TEST_CASE("step_stop: attaching, detaching and exclusive publishing can be stopped anywhere") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    require_clean(run(attach_scenarios(0), Fate::resumed, kSample));
}

TEST_CASE("step_pairs: two producers stopped at once, each killed or resumed later, harm nobody") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    stay_on_one_core();
    print_header();
    Tally total;
    for (const Scenario& scenario : publish_scenarios(0)) {
        if (!wanted(scenario))
            continue;
        const Tally tally = step_pairs(scenario, long_run() ? kAll : kPairedStops);
        print(tally);
        total += tally;
    }
    total.name = "total, two victims";
    print(total);
    require_clean(total);
}

TEST_CASE("step_wrap: killed and stopped around offsets 2^32, 2^48 and 2^61") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    for (const std::uint64_t power : {32U, 48U, 61U}) {
        const std::uint64_t first_offset = (std::uint64_t{1} << power) - 30;  // crossed while the others go on
        for (const Fate fate : {Fate::killed, Fate::resumed})
            require_clean(run(wrap_sample(first_offset), fate, 6));
    }
}
