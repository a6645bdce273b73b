// Doorbells under the explorer: nobody sleeps where there is something to read, and no request to close is lost.
#include "explore/holds.hpp"
#include "support/catch.hpp"

using namespace ringmain::explore;

TEST_CASE("Explored: a reader goes to sleep while two producers publish") { holds("doorbell.sleeper"); }
TEST_CASE("Explored: the same where the kernel refuses the barrier") { holds("doorbell.fenced"); }
TEST_CASE("Explored: two readers sleep on one doorbell") { holds("doorbell.two_sleepers"); }
TEST_CASE("Explored: a topic is deleted while a reader goes to sleep") { holds("doorbell.deleted"); }
TEST_CASE("Explored: a reader asks for the closing of a ticket and sleeps") { holds("doorbell.close_served"); }
TEST_CASE("Explored: asking and sleeping where the kernel refuses the barrier") { holds("doorbell.close_fenced"); }
TEST_CASE("Explored: a request to close meets two keepers") { holds("doorbell.close_kept"); }
TEST_CASE("Explored: requests to close two tickets, one behind the other") { holds("doorbell.close_last"); }
