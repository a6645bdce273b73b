// The client table under the explorer: nobody loses a slot while he lives, and nobody who lives is told to be dead.
#include "explore/holds.hpp"
#include "support/catch.hpp"

using namespace ringmain::explore;

TEST_CASE("Explored: clients take slots, die, and are judged") { holds("clients.attach"); }
