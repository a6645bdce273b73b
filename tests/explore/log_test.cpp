// The log under the explorer: nothing lost, torn, doubled, or found at another offset than it was published at.
#include "explore/holds.hpp"
#include "support/catch.hpp"

using namespace ringmain::explore;

TEST_CASE("Explored: shared producers and a closing reader on two cells") { holds("log.publish_overwrite"); }
TEST_CASE("Explored: a producer dies or stops anywhere and nobody waits") { holds("log.publish_dying"); }
TEST_CASE("Explored: the same around offset 2^61") { holds("log.publish_far"); }
TEST_CASE("Explored: producers of a block topic make room") { holds("log.publish_block"); }
TEST_CASE("Explored: a reader is lapped while it reads") { holds("log.read_lapped"); }
TEST_CASE("Explored: a late writer and a keeper that gives its cell back") { holds("log.late_release"); }
TEST_CASE("Explored: a late writer dies, its slot and its cell come back from two keepers") {
    holds("log.late_reaped");
}
TEST_CASE("Explored: a batch whose tickets are closed") { holds("log.publish_batch"); }
TEST_CASE("Explored: log_start moves two tickets at a time") { holds("log.chunk_lapped"); }
TEST_CASE("Explored: a batch gives a ticket up while others are a lap ahead") { holds("log.batch_gives_up"); }
TEST_CASE("Explored: an exclusive producer laps its readers") { holds("log.exclusive_laps"); }
TEST_CASE("Explored: an exclusive producer dies and has a successor") { holds("log.exclusive_succession"); }
TEST_CASE("Explored: an exclusive producer of a block topic dies and has a successor") { holds("log.exclusive_block"); }
TEST_CASE("Explored: exclusive and shared producers come together") { holds("log.attach_both"); }
TEST_CASE("Explored: a successor sees many stale values") { holds("log.succession_stale"); }
TEST_CASE("Explored: producers that come together see many stale values") { holds("log.attach_stale"); }
TEST_CASE("Explored: a lease of the dead is reaped while the next one comes") { holds("log.lease_reaped"); }
TEST_CASE("Explored: a slot of the dead is reaped for the next one") { holds("log.slot_reaped"); }
TEST_CASE("Explored: an exclusive producer comes after a dead shared one") { holds("log.exclusive_after_shared"); }
TEST_CASE("Explored: a producer's slot goes from one to the next") { holds("log.slot_passed_on"); }
TEST_CASE("Explored: two names begin at once") { holds("log.names_at_once"); }
TEST_CASE("Explored: extents are changed while a reader reads in them") { holds("log.extent_reuse"); }
TEST_CASE("Explored: one extent goes from producer to producer") { holds("log.extent_passed_on"); }
TEST_CASE("Explored: a body is lapped in its extent") { holds("log.extent_lapped"); }
TEST_CASE("Explored: what a dead producer held is reaped by two at once") { holds("log.reap_extents"); }
TEST_CASE("Explored: a named producer is lapped") { holds("log.named_lapped"); }
TEST_CASE("Explored: a named producer dies and its successor sends the rest") { holds("log.named_dies"); }
TEST_CASE("Explored: a new name is lapped before it is known") { holds("log.named_new"); }
TEST_CASE("Explored: a named exclusive producer dies and has a successor") { holds("log.named_exclusive"); }
TEST_CASE("Explored: a named producer is passed before it looks") { holds("log.named_passed"); }
TEST_CASE("Explored: the name of the dead is handed on") { holds("log.name_of_the_dead"); }
TEST_CASE("Explored: a name is handed on") { holds("log.name_handed_on"); }
TEST_CASE("Explored: a gate begins beside movers of the log start") { holds("gates.begin"); }
TEST_CASE("Explored: a gate's holder dies") { holds("gates.of_the_dead"); }
TEST_CASE("Explored: a gate is handed on to the next reader") { holds("gates.handed_on"); }
TEST_CASE("Explored: records are deleted while a producer attaches") { holds("retention.deleted_while_attaching"); }
TEST_CASE("Explored: bytes are counted while records are lapped") { holds("retention.counted_while_lapped"); }
TEST_CASE("Explored: a log that is lapped agrees with its start") { holds("retention.lapped_start"); }
TEST_CASE("Explored: two keepers delete by age") { holds("retention.by_age"); }
TEST_CASE("Explored: two keepers delete by bytes") { holds("retention.by_bytes"); }
TEST_CASE("Explored: two keepers delete by records") { holds("retention.by_records"); }
TEST_CASE("Explored: a start that is moved shows the end above it") { holds("retention.start_and_end"); }
