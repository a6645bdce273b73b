// Clients with a planted fault, in real processes on a real broker: the checkers have to say so. Without one they are
// silent.
#include <iostream>

#include "concurrency/seed.hpp"
#include "fire.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::nemesis;

namespace {

constexpr std::chrono::milliseconds kDuration{1'200};

Verdict run_with(Canary canary) {
    Roster roster{.producers = 3, .members = 2, .workers = 2, .readers = 1, .keepers = 1, .daemons = 0};
    roster.canary = canary;
    const Round round = fire(test::seed_for("canary"), kDuration, 0, roster, nullptr);
    if (canary == Canary::none)
        UNSCOPED_INFO(round.report);
    for (const Violation& one : round.verdict.violations())
        std::cout << to_string(one.fault) << ": " << one.what << '\n';
    return round.verdict;
}

}  // namespace

TEST_CASE("a run without signals and without a planted fault is found to be good") {
    const Verdict verdict = run_with(Canary::none);
    CHECK(verdict.good());
    CHECK(verdict.acknowledged > 100);
}

TEST_CASE("a member that commits before it processes, and dies, is reported") {
    CHECK(run_with(Canary::member_commits_first).count(Fault::lost) > 0);
}

TEST_CASE("a reader that drops a record without a word is reported") {
    CHECK(run_with(Canary::reader_drops).count(Fault::unreported_gap) > 0);
}

TEST_CASE("a producer that acknowledges what it does not publish is reported") {
    CHECK(run_with(Canary::producer_lies).count(Fault::lost) > 0);
}

TEST_CASE("a worker that takes a refused ack for one that was accepted is reported") {
    const Verdict verdict = run_with(Canary::worker_acks_for_others);
    CHECK(verdict.count(Fault::two_acks) + verdict.count(Fault::late_ack) > 0);
}
