// The group table under the explorer: no commit lost, counted late or taken back, no record lost that a group holds.
#include "explore/explorer.hpp"
#include "explore/planted.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringmain::explore;

void holds(const char* scenario) {
    const Outcome outcome = explore_and_report(scenario);
    CHECK(outcome.violation.empty());
    CHECK((outcome.exhausted || outcome.executions >= 1'000'000));
}

}  // namespace

TEST_CASE("Explored: two members come and go") { holds("groups.join_leave"); }
TEST_CASE("Explored: a live owner hands over") { holds("groups.hand_over"); }
TEST_CASE("Explored: an owner dies or stops anywhere and has an heir") { holds("groups.hand_over_fallen"); }
TEST_CASE("Explored: a commit races an eviction") { holds("groups.commit_eviction"); }
TEST_CASE("Explored: an evicted member joins again") { holds("groups.rejoin"); }
TEST_CASE("Explored: a reset races commits") { holds("groups.reset_commit"); }
TEST_CASE("Explored: a reset is resumed by another") { holds("groups.reset_resumed"); }
TEST_CASE("Explored: an owner goes back while it is evicted") { holds("groups.replay_eviction"); }
TEST_CASE("Explored: a group is created by two at once, one of whom falls") { holds("groups.create_at_once"); }
TEST_CASE("Explored: a group is deleted and created again") { holds("groups.create_delete"); }
TEST_CASE("Explored: a group is deleted under its owner and its slot used again") {
    holds("groups.delete_under_owner");
}
TEST_CASE("Explored: a member's slot comes back from the dead alone") { holds("groups.slot_of_the_dead"); }
TEST_CASE("Explored: a group that was let go holds again") { holds("groups.gate_returns"); }
TEST_CASE("Explored: a group too far behind is let go while it commits") { holds("groups.gate_lets_go"); }
TEST_CASE("Explored: a group that gates is reset") { holds("groups.gate_reset"); }
TEST_CASE("Explored: a group that gates begins") { holds("groups.gate_begins"); }
