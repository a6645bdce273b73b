// The log under the explorer: nothing lost, torn, doubled, or found at another offset than it was published at.
#include "explore/holds.hpp"
#include "support/catch.hpp"

using namespace ringmain::explore;

TEST_CASE("Explored: shared producers and a closing reader on two cells") { holds("log.publish_overwrite"); }
TEST_CASE("Explored: a producer dies or stops anywhere and nobody waits") { holds("log.publish_dying"); }
TEST_CASE("Explored: producers of a block topic make room") { holds("log.publish_block"); }
TEST_CASE("Explored: a reader is lapped while it reads") { holds("log.read_lapped"); }
TEST_CASE("Explored: a late writer and a keeper that gives its cell back") { holds("log.late_release"); }
TEST_CASE("Explored: a batch whose tickets are closed") { holds("log.publish_batch"); }
TEST_CASE("Explored: an exclusive producer laps its readers") { holds("log.exclusive_laps"); }
TEST_CASE("Explored: an exclusive producer dies and has a successor") { holds("log.exclusive_succession"); }
TEST_CASE("Explored: exclusive and shared producers come together") { holds("log.attach_both"); }
TEST_CASE("Explored: extents are changed while a reader reads in them") { holds("log.extent_reuse"); }
TEST_CASE("Explored: a body is lapped in its extent") { holds("log.extent_lapped"); }
TEST_CASE("Explored: what a dead producer held is reaped by two at once") { holds("log.reap_extents"); }
TEST_CASE("Explored: a gate begins beside movers of the log start") { holds("gates.begin"); }
TEST_CASE("Explored: a gate's holder dies") { holds("gates.of_the_dead"); }
