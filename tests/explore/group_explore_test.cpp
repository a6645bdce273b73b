// The group table under the explorer: no commit lost, counted late or taken back, no record lost that a group holds.
#include "explore/explorer.hpp"
#include "explore/holds.hpp"
#include "explore/planted.hpp"
#include "support/catch.hpp"

using namespace ringmain::explore;

TEST_CASE("Explored: two members come and go") { holds("groups.join_leave"); }
TEST_CASE("Explored: a member dies anywhere between coming and going") { holds("groups.join_dying"); }
TEST_CASE("Explored: a live owner hands over") { holds("groups.hand_over"); }
TEST_CASE("Explored: an owner dies or stops anywhere and has an heir") { holds("groups.hand_over_fallen"); }
TEST_CASE("Explored: a commit races an eviction") { holds("groups.commit_eviction"); }
TEST_CASE("Explored: an evicted member joins again") { holds("groups.rejoin"); }
TEST_CASE("Explored: a reset races commits") { holds("groups.reset_commit"); }
TEST_CASE("Explored: a reset is resumed by another") { holds("groups.reset_resumed"); }
TEST_CASE("Explored: an owner goes back while it is evicted") { holds("groups.replay_eviction"); }
TEST_CASE("Explored: a group is created by two at once, one of whom falls") { holds("groups.create_at_once"); }
TEST_CASE("Explored: a group is found by one who did not make it") { holds("groups.find_new"); }
TEST_CASE("Explored: a group is deleted and created again") { holds("groups.create_delete"); }
TEST_CASE("Explored: a group is deleted under its owner and its slot used again") {
    holds("groups.delete_under_owner");
}
TEST_CASE("Explored: a member's slot comes back from the dead alone") { holds("groups.slot_of_the_dead"); }
TEST_CASE("Explored: a member's slot and what it says pass on to another") { holds("groups.slot_passed_on"); }
TEST_CASE("Explored: two static members come after each other in one slot") { holds("groups.slot_of_names"); }
TEST_CASE("Explored: two instances of a static member come at once") { holds("groups.name_at_once"); }
TEST_CASE("Explored: a group that was let go holds again") { holds("groups.gate_returns"); }
TEST_CASE("Explored: a group too far behind is let go while it commits") { holds("groups.gate_lets_go"); }
TEST_CASE("Explored: a group that gates is reset") { holds("groups.gate_reset"); }
TEST_CASE("Explored: a group that gates begins") { holds("groups.gate_begins"); }

namespace {

/// The one exchange by which words of a kind change, made of two steps.
Mutation split(const char* file, const char* line) { return planted(file, line, Operation::cas16, Weakening::split); }
Mutation split_partition_words() {
    return split("group_table/groups_memory.hpp", "M::cas16(cell(group, partition).word");
}
Mutation without_fence(const char* file) {
    return planted(file, "M::fence(std::memory_order_seq_cst)", Operation::fence, Weakening::relaxed);
}

}  // namespace

TEST_CASE("Explored: a partition's word that changes in two steps is found by every scenario of members") {
    for (const char* const scenario :
         {"groups.join_leave", "groups.hand_over_fallen", "groups.commit_eviction", "groups.rejoin",
          "groups.reset_commit", "groups.reset_resumed", "groups.replay_eviction", "groups.delete_under_owner"}) {
        CAPTURE(scenario);
        CHECK_FALSE(found_in(scenario, split_partition_words()).empty());
    }
}

TEST_CASE("Explored: a leaving that does not come to pass is found") {
    const Mutation mutation =
        planted("group_table/groups_memory.hpp", "M::cas16(groups_[slot].set", Operation::cas16, Weakening::skip);
    CHECK(found_in("groups.hand_over", mutation) == "the heir does not get what was given up");
}

TEST_CASE("Explored: a directory that decides in two steps gives two groups one name") {
    const Mutation mutation = split("group_table/creation.hpp", "M::cas16(groups_.control().dir");
    CHECK(found_in("groups.create_at_once", mutation) == "two groups have one name");
}

TEST_CASE("Explored: a group of the slot that is changed in two steps by its last sweeper is found") {
    CHECK(found_in("groups.create_delete", split_partition_words()) == "a group does not begin at its start");
}

TEST_CASE("Explored: a member's slot that is freed in two steps is found") {
    const Mutation mutation = split("group_table/groups_memory.hpp", "M::cas16(member(group, slot).head");
    CHECK_FALSE(found_in("groups.slot_of_the_dead", mutation).empty());
}

TEST_CASE("Explored: without either fence of the handshake a group loses what it holds") {
    for (const char* const scenario :
         {"groups.gate_returns", "groups.gate_lets_go", "groups.gate_reset", "groups.gate_begins"}) {
        CAPTURE(scenario);
        CHECK(found_in(scenario, without_fence("group_table/group_gates.hpp")) ==
              "log_start has passed what a group holds");
        CHECK(found_in(scenario, without_fence("partition_log/log_start.hpp")) ==
              "log_start has passed what a group holds");
    }
}
