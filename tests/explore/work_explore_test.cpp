// The work table under the explorer: each record to one worker at a time, ended in one way, with one letter at most.
#include "explore/explorer.hpp"
#include "explore/holds.hpp"
#include "explore/planted.hpp"
#include "support/catch.hpp"

using namespace ringmain::explore;

TEST_CASE("Explored: two workers take what nobody had") { holds("queues.take_at_once"); }
TEST_CASE("Explored: a worker falls while it takes and acks") { holds("queues.take_dying"); }
TEST_CASE("Explored: an ack races the end of its lock") { holds("queues.ack_expiry"); }
TEST_CASE("Explored: a lock is renewed while it ends") { holds("queues.renew_expiry"); }
TEST_CASE("Explored: records are given back with and without a delay") { holds("queues.give_back"); }
TEST_CASE("Explored: a dead worker's records are taken back") { holds("queues.reap_the_dead"); }
TEST_CASE("Explored: the window moves over what is finished alone") { holds("queues.move_window"); }
TEST_CASE("Explored: retention takes records that are held") { holds("queues.lose_records"); }
TEST_CASE("Explored: a dead letter is decided by two at once") { holds("queues.letter_by_two"); }
TEST_CASE("Explored: who writes a dead letter falls anywhere") { holds("queues.letter_dying"); }
TEST_CASE("Explored: tickets of dead letters are closed by their readers") { holds("queues.letter_closed"); }
TEST_CASE("Explored: a cap on all that is in flight") { holds("queues.caps"); }
TEST_CASE("Explored: a queue is reset under a holder") { holds("queues.reset_holder"); }
TEST_CASE("Explored: a queue is reset under one who takes") { holds("queues.reset_taker"); }
TEST_CASE("Explored: who resets a queue falls anywhere") { holds("queues.reset_dying"); }
TEST_CASE("Explored: a dead-letter topic is deleted under a letter, and another one linked") {
    holds("queues.relinked");
}
TEST_CASE("Explored: who writes a letter or links its topic anew falls anywhere") { holds("queues.relink_dying"); }
TEST_CASE("Explored: attempts are counted over a hand-over") { holds("queues.attempts"); }
TEST_CASE("Explored: a cap of one, as those see it who share it") { holds("queues.cap_as_seen"); }
TEST_CASE("Explored: the cap holds for a worker that joins") { holds("queues.cap_of_joiner"); }
TEST_CASE("Explored: a cap and locks of different times") { holds("queues.cap_and_times"); }
TEST_CASE("Explored: two join while a slot is left") { holds("queues.join_at_once"); }
TEST_CASE("Explored: a word of 4096 laps later that is the same") { holds("queues.lap_cycle"); }
TEST_CASE("Explored: the owner of a stream goes back over what it finished") { holds("queues.moved_back"); }
TEST_CASE("Explored: the owner of a stream goes back, and others see it late") { holds("queues.moved_back_stale"); }
TEST_CASE("Explored: a stream goes back by its owner and by an operator at once") { holds("queues.moved_by_two"); }
TEST_CASE("Explored: two mark that they move a stream, and one who takes it over clears a mark") {
    holds("queues.marks_at_once");
}

namespace {

Mutation of_words(Weakening weakening) {
    return planted("work_table/work_memory.hpp", "word(offset).compare_exchange_strong(from, to",
                   Operation::compare_exchange, weakening);
}

}  // namespace

TEST_CASE("Explored: a word of a queue that changes in two steps is found by every scenario of it") {
    for (const char* const scenario :
         {"queues.take_at_once", "queues.take_dying", "queues.ack_expiry", "queues.renew_expiry", "queues.give_back",
          "queues.reap_the_dead", "queues.move_window", "queues.lose_records", "queues.letter_by_two",
          "queues.letter_dying", "queues.letter_closed", "queues.reset_holder", "queues.reset_dying",
          "queues.reset_taker", "queues.attempts"}) {
        CAPTURE(scenario);
        CHECK_FALSE(found_in(scenario, of_words(Weakening::split)).empty());
    }
}

TEST_CASE("Explored: words of a queue that pass nothing on make two letters") {
    CHECK(found_in("queues.letter_by_two", of_words(Weakening::no_release)) == "two letters about one record");
}

TEST_CASE("Explored: shares that are announced in no common order exceed the cap") {
    const Mutation mutation =
        planted("work_table/workers.hpp", "held.fetch_add(wanted", Operation::fetch_add, Weakening::relaxed);
    CHECK(found_in("queues.caps", mutation) == "more is in flight than the cap");
}

TEST_CASE("Explored: without either fence of a reset a letter is written after it") {
    for (const char* const file : {"work_table/retiring.hpp", "work_table/letters.hpp"}) {
        CAPTURE(file);
        const Mutation mutation =
            planted(file, "M::fence(std::memory_order_seq_cst)", Operation::fence, Weakening::relaxed);
        CHECK(found_in("queues.reset_taker", mutation) == "a letter is written after the reset");
    }
}

TEST_CASE("Explored: without either fence of who links anew a letter to a topic that is gone counts") {
    for (const char* const file : {"work_table/relinking.hpp", "work_table/letters.hpp"}) {
        CAPTURE(file);
        const Mutation mutation =
            planted(file, "M::fence(std::memory_order_seq_cst)", Operation::fence, Weakening::acq_rel);
        CHECK(found_in("queues.relinked", mutation) == "a letter to a topic that is gone ends a record");
    }
}
