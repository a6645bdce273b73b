// Taking one record: every state of its word, early, late and gone, and every race that has an answer.
#include "work_table/taking.hpp"

#include <functional>
#include <vector>

#include "partition_log/log_start.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_work.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace ringmain::work_table;

namespace {

using M = HookedMemory;
using Work = PlainWork<M>;

/// One worker's `take` of any offset, in a queue of 8 records of which all were handed out.
struct World : Work {
    explicit World(const WorkShape& what = {}) : Work(what) {
        publish_many(8);
        control().frontier.store(what.log.first_offset + 8, std::memory_order_release);
    }
    Taken take(std::uint64_t offset) { return taking.take(offset, now(), records); }
    [[nodiscard]] std::uint64_t lap(std::uint64_t offset) const { return lap_of(offset, shape.window); }

    LogRecords<M> records{*this};
    LogLetters<M> letter_log{*this, 0};
    Taking<M, LogLetters<M>> taking{work(), shape.rules, letter_log, 0};
};

constexpr std::uint32_t kOther = 3;

}  // namespace

TEST_CASE("take of a word that was never used: locked, counted once, for the lock time") {
    World world;
    const Taken taken = world.take(2);
    CHECK(taken.took == Took::record);
    CHECK(taken.word == world.word(2));
    CHECK(taken.word == locked_word(1, 0, world.now() + 1'000, 0, 0));
    CHECK(world.records.held[0].item.id == 2);
    CHECK(world.value(world.control().redelivered) == 0);
}

TEST_CASE("take of a finished word of this offset, or of an offset behind the start: nothing, and nothing changes") {
    World world;
    world.set_word(2, done_word(2, DoneReason::acked));
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.word(2) == done_word(2, DoneReason::acked));
    group_table::PartitionWord place = world.groups.word(world.group.slot, 0);
    REQUIRE(world.work().move_start(place, 3));
    CHECK(world.take(1).took == Took::nothing);
    CHECK(world.word(1) == 0);
}

TEST_CASE("take of a log whose start is no offset: what is read decides nothing, and nothing changes") {
    World world;
    const std::uint64_t ready = ready_word(1, 2, world.now(), 0);
    world.set_word(1, ready);
    world.host_log.control->log_start.store(kOffsetMax + 1, std::memory_order_release);
    CHECK(world.take(1).took == Took::nothing);
    CHECK(world.word(1) == ready);
    CHECK(world.taking.take_fresh(2, world.taking.fresh_lock(world.now()), world.records) == 0);
    CHECK(world.word(2) == 0);
}

TEST_CASE("take of the last lap's words, finished or of another lap's bits: they are free") {
    const WorkShape shape{.log = {.records = 16, .first_offset = 32}};
    const std::vector<std::uint64_t> old_words = {
        done_word(32 - 16, DoneReason::dead),
        done_word(0, DoneReason::lost),
        ready_word(2, 1, 7, 1),
        locked_word(2, 1, shape.now + 500, kOther, 1),
        preparing_word(LetterReason::limit, 3, shape.now + 500, kOther, 1),
        intent_word(LetterReason::limit, 3, 9, 1),
    };
    for (const std::uint64_t old_word : old_words) {
        World world(shape);
        world.set_word(32, old_word);
        const Taken taken = world.take(32);
        CHECK(taken.took == Took::record);
        CHECK(world.word(32) == locked_word(1, 0, world.now() + 1'000, 0, 2));
    }
}

TEST_CASE("take of a ready word: not before it is due, then with a new count and tag") {
    World world;
    world.set_word(2, ready_word(1, 3, world.now() + 50, 0));
    const Taken early = world.take(2);
    CHECK(early.took == Took::nothing);
    CHECK(early.due == world.now() + 50);
    world.pass(50);
    CHECK(world.take(2).word == locked_word(2, 0, world.now() + 1'000, 0, 0));
    CHECK(world.value(world.control().redelivered) == 1);
    CHECK(world.value(world.control().expired) == 0);
}

TEST_CASE("take of a ready word whose deliveries are used up: a letter, no delivery") {
    World world;
    world.set_word(2, ready_word(3, 0, world.now(), 0));
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.word(2) == done_word(2, DoneReason::dead));
    CHECK(world.letter(0) == WorkLetter{2, 2, 3, static_cast<std::uint32_t>(LetterReason::limit)});
}

TEST_CASE("take of a condemned word: when it is due, a letter with the reason it has") {
    World world;
    world.set_word(2, condemned_word(1, world.now() + 5, LetterReason::rejected, 0));
    CHECK(world.take(2).due == world.now() + 5);
    CHECK(world.letters_end() == 0);
    world.pass(5);
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.word(2) == done_word(2, DoneReason::dead));
    CHECK(world.letter(0) == WorkLetter{2, 2, 1, static_cast<std::uint32_t>(LetterReason::rejected)});
}

TEST_CASE("take of a locked word: not before its time and the back-off behind it are over") {
    World world;
    const std::uint64_t deadline = world.now() + 300;
    world.set_word(2, locked_word(1, 2, deadline, kOther, 0));
    CHECK(world.take(2).due == deadline + 100);
    world.pass(399);
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.word(2) == locked_word(1, 2, deadline, kOther, 0));
    world.pass(1);
    CHECK(world.take(2).word == locked_word(2, 3, world.now() + 1'000, 0, 0));
    CHECK(world.value(world.control().expired) == 1);
}

TEST_CASE("take of a locked word that ran out on the last delivery: a letter that says so") {
    World world;
    world.set_word(2, locked_word(3, 2, world.now() - 400, kOther, 0));
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.word(2) == done_word(2, DoneReason::dead));
    CHECK(world.letter(0) == WorkLetter{2, 2, 3, static_cast<std::uint32_t>(LetterReason::died)});
    CHECK(world.value(world.control().expired) == 1);
    CHECK(world.value(world.control().dead_lettered) == 1);
}

TEST_CASE("take of a word that prepares a letter: left to who does until its time is over") {
    World world;
    world.set_word(2, preparing_word(LetterReason::rejected, 2, world.now() + 100, kOther, 0));
    CHECK(world.take(2).due == world.now() + 100);
    world.pass(100);
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.word(2) == done_word(2, DoneReason::dead));
    CHECK(world.letter(0) == WorkLetter{2, 2, 2, static_cast<std::uint32_t>(LetterReason::rejected)});
}

TEST_CASE("take of an announced letter: finished after a moment, as its ticket says") {
    World world;
    partition_log::Tickets<platform::HostMemory> tickets(world.host_letters, 3);
    const std::uint64_t open = tickets.take();
    world.set_word(2, intent_word(LetterReason::limit, 3, open, 0));
    CHECK(world.take(2).due == world.now() + kIntentPatienceMs);
    CHECK(world.word(2) == intent_word(LetterReason::limit, 3, open, 0));
    world.pass(kIntentPatienceMs);
    SECTION("open: it is closed, and the letter goes out under a new one") {
        (void)world.take(2);
        CHECK(world.word(2) == done_word(2, DoneReason::dead));
        CHECK_FALSE(world.letter(open));
        CHECK(world.letters_about(2) == 1);
    }
    SECTION("committed: nothing goes out again") {
        LogLetters<M> other(world, 3);
        REQUIRE(other.commit_at(open, {2, 3, LetterReason::limit}) == Sent::committed);
        (void)world.take(2);
        CHECK(world.word(2) == done_word(2, DoneReason::dead));
        CHECK(world.letters_end() == 1);
        CHECK(world.letters_about(2) == 1);
        CHECK(world.value(world.control().dead_lettered) == 1);
    }
    SECTION("given up: as closed") {
        tickets.give_up(open);
        (void)world.take(2);
        CHECK(world.word(2) == done_word(2, DoneReason::dead));
        CHECK(world.letters_about(2) == 1);
    }
}

TEST_CASE("take of an announced letter whose ticket never was: a letter is written all the same") {
    World world;
    world.set_word(2, intent_word(LetterReason::limit, 3, kTicketMax, 0));
    (void)world.take(2);
    world.pass(kIntentPatienceMs);
    (void)world.take(2);
    CHECK(world.word(2) == done_word(2, DoneReason::dead));
    CHECK(world.letters_about(2) == 1);
}

TEST_CASE("several announced letters of workers that died do not wait for each other for ever") {
    World world;
    partition_log::Tickets<platform::HostMemory> tickets(world.host_letters, 3);
    for (std::uint64_t offset = 0; offset < 8; ++offset)
        world.set_word(offset, intent_word(LetterReason::limit, 3, tickets.take(), 0));
    for (int sweep = 0; sweep < 20; ++sweep) {
        for (std::uint64_t offset = 0; offset < 8; ++offset) (void)world.take(offset);
        world.pass(kIntentPatienceMs);
    }
    for (std::uint64_t offset = 0; offset < 8; ++offset) {
        CHECK(world.word(offset) == done_word(offset, DoneReason::dead));
        CHECK(world.letters_about(offset) == 1);
    }
}

TEST_CASE("take of an offset without a record: finished as skipped, at once") {
    World world;
    const std::uint64_t skipped = world.skip();
    CHECK(world.take(skipped).took == Took::nothing);
    CHECK(world.word(skipped) == done_word(skipped, DoneReason::skipped));
}

TEST_CASE("take of an offset that is not decided: nothing, and nothing changes") {
    World world;
    const std::uint64_t open = world.open_ticket();
    CHECK(world.take(open).took == Took::nothing);
    CHECK(world.word(open) == 0);
}

TEST_CASE("take of a record that asks for a delay: it waits, uncounted, from first sight or its timestamp") {
    World world;
    const std::uint64_t delayed = world.publish({.id = 9, .delay_ms = 500});
    world.pass(200);
    CHECK(world.take(delayed).took == Took::nothing);
    CHECK(world.word(delayed) == ready_word(0, 0, world.now() + 300, 0));
    CHECK(world.take(delayed).due == world.now() + 300);
    world.pass(300);
    CHECK(world.take(delayed).word == locked_word(1, 1, world.now() + 1'000, 0, 0));
}

TEST_CASE("take of a record whose time to live is over: a letter or nothing, as the rules say, also after a delivery") {
    WorkShape shape;
    shape.rules.expired = GENERATE(EndOf::dead_letter, EndOf::skip);
    const bool letter = shape.rules.expired == EndOf::dead_letter;
    World world(shape);
    const std::uint64_t first = world.publish({.id = 9, .ttl_ms = 500});
    const std::uint64_t second = world.publish({.id = 9, .ttl_ms = 500});
    CHECK(world.take(second).took == Took::record);
    world.pass(501);
    CHECK(world.take(first).took == Took::nothing);
    CHECK(world.word(first) == done_word(first, letter ? DoneReason::dead : DoneReason::skipped));
    world.pass(1'000);
    CHECK(world.take(second).took == Took::nothing);
    CHECK(world.word(second) == done_word(second, letter ? DoneReason::dead : DoneReason::skipped));
    CHECK(world.letters_end() == (letter ? 2 : 0));
    CHECK(world.value(world.control().skipped) == (letter ? 0 : 2));
    if (letter) {
        CHECK(world.letter(0) == WorkLetter{first, first, 0, static_cast<std::uint32_t>(LetterReason::expired)});
        CHECK(world.letter(1) == WorkLetter{second, second, 1, static_cast<std::uint32_t>(LetterReason::expired)});
    }
}

TEST_CASE("take of a record of impossible bytes: finished as skipped, and told") {
    World world;
    partition_log::SharedPublisher<platform::HostMemory> publisher(world.host_log, 0, 1);
    const std::uint64_t offset = publisher.publish(parts_of("no item")).offset;
    CHECK(world.take(offset).took == Took::corrupt);
    CHECK(world.word(offset) == done_word(offset, DoneReason::skipped));
}

TEST_CASE("take without room for the record: the word is what it was") {
    World world;
    world.records.room = 0;
    for (const std::uint64_t before : {std::uint64_t{0}, ready_word(2, 1, 5, 0), locked_word(2, 1, 5, kOther, 0)}) {
        world.set_word(2, before);
        CHECK(world.take(2).took == Took::full);
        CHECK(world.word(2) == before);
    }
}

TEST_CASE("take of what retention has passed: whatever its word is, it is finished as lost exactly once") {
    World world;
    const std::uint64_t now = world.now();
    const std::uint64_t word = GENERATE_COPY(std::uint64_t{0}, ready_word(1, 0, now + 500, 0), locked_word(1, 0, now + 500, kOther, 0),
                                             locked_word(3, 0, now - 500, kOther, 0), condemned_word(1, now + 500, LetterReason::limit, 0),
                                             preparing_word(LetterReason::limit, 3, now + 500, kOther, 0));
    partition_log::delete_before(world.host_log, 5);
    world.set_word(2, word);
    CHECK(world.take(2).took == Took::lost);
    CHECK(world.word(2) == done_word(2, DoneReason::lost));
    CHECK(world.value(world.control().lost) == 1);
    CHECK(world.value(world.control().expired) == 0);
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.value(world.control().lost) == 1);
    CHECK(world.letters_end() == 0);
}

TEST_CASE("take: a record that retention passes while it is copied is lost, and the copy is dropped") {
    World world;
    const M::Scope scope(M::once_at("take.copied", [&] { partition_log::delete_before(world.host_log, 5); }));
    CHECK(world.take(2).took == Took::lost);
    CHECK(world.records.drops == 1);
    CHECK(world.word(2) == done_word(2, DoneReason::lost));
}

TEST_CASE("take: who loses the exchange looks again") {
    World world;
    SECTION("finished by another") {
        const M::Scope scope(M::once_at("take.seen", [&] { world.set_word(2, done_word(2, DoneReason::acked)); }));
        CHECK(world.take(2).took == Took::nothing);
        CHECK(world.word(2) == done_word(2, DoneReason::acked));
    }
    SECTION("locked by another") {
        const std::uint64_t theirs = locked_word(1, 0, world.now() + 900, kOther, 0);
        const M::Scope scope(M::once_at("take.seen", [&] { world.set_word(2, theirs); }));
        CHECK(world.take(2).took == Took::nothing);
        CHECK(world.word(2) == theirs);
    }
    SECTION("given back by another") {
        const M::Scope scope(M::once_at("take.seen", [&] { world.set_word(2, ready_word(1, 0, world.now(), 0)); }));
        CHECK(world.take(2).word == locked_word(2, 1, world.now() + 1'000, 0, 0));
    }
}

TEST_CASE("take: an equal word of a later lap gives itself away behind the exchange, and is put back as it was") {
    // window 1: the word of offset 2 is that of 2 + 4096, too
    WorkShape shape{.log = {.records = 16}, .window = 1};
    World world(shape);
    const std::uint64_t now = world.now();
    const std::uint64_t lap = 2;
    struct Case {
        std::uint64_t word;
        std::uint64_t log_start;
    };
    const Case at = GENERATE_COPY(Case{ready_word(1, 0, now - 5, lap), 0}, Case{locked_word(1, 0, now - 500, kOther, lap), 0},
                                  Case{preparing_word(LetterReason::limit, 3, now - 500, kOther, lap), 0},
                                  Case{locked_word(1, 0, now + 500, kOther, lap), 5});
    group_table::PartitionWord place = world.host_groups.word(world.group.slot, 0);
    REQUIRE(world.truth().move_start(place, 2));
    if (at.log_start != 0) partition_log::delete_before(world.host_log, at.log_start);
    world.set_word(2, at.word);
    const M::Scope scope(M::once_at("take.seen", [&] {
        place = world.host_groups.word(world.group.slot, 0);
        CHECK(world.truth().move_start(place, 2 + 4096));  // and the word there is the same
    }));
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.word(2) == at.word);
    CHECK(world.letters_end() == 0);
    CHECK(world.value(world.control().lost) == 0);
}

namespace {

std::uint64_t take_fresh(World& world, std::uint64_t offset) {
    return world.taking.take_fresh(offset, world.taking.fresh_lock(world.now()), world.records);
}

}  // namespace

TEST_CASE("the short way takes what nobody has seen, as the long one does, and nothing else") {
    const WorkShape shape{.log = {.records = 16, .first_offset = 32}};
    for (const std::uint64_t free : {std::uint64_t{0}, done_word(16, DoneReason::acked), done_word(0, DoneReason::lost)}) {
        World world(shape);
        world.set_word(32, free);
        CHECK(take_fresh(world, 32) == locked_word(1, 0, world.now() + 1'000, 0, 2));
        CHECK(world.word(32) == locked_word(1, 0, world.now() + 1'000, 0, 2));
        CHECK(world.records.held[0].item.id == 32);
    }
    const std::uint64_t now = shape.now;
    for (const std::uint64_t other : {done_word(32, DoneReason::acked), ready_word(1, 0, now - 5, 2), locked_word(1, 0, now - 500, kOther, 2),
                                      locked_word(1, 0, now + 500, kOther, 1), preparing_word(LetterReason::limit, 3, now - 500, kOther, 2),
                                      intent_word(LetterReason::limit, 3, 0, 2), condemned_word(3, now - 5, LetterReason::limit, 2)}) {
        World world(shape);
        world.set_word(32, other);
        CHECK(take_fresh(world, 32) == 0);
        CHECK(world.word(32) == other);
    }
}

TEST_CASE("the short way leaves records with wishes, offsets without one, and those without room to the long one") {
    World world;
    const std::uint64_t delayed = world.publish({.id = 8, .delay_ms = 5});
    const std::uint64_t mortal = world.publish({.id = 9, .ttl_ms = 5});
    const std::uint64_t skipped = world.skip();
    for (const std::uint64_t offset : {delayed, mortal, skipped}) {
        CHECK(take_fresh(world, offset) == 0);
        CHECK(world.word(offset) == 0);
    }
    world.records.room = 0;
    CHECK(take_fresh(world, 2) == 0);
    CHECK(world.word(2) == 0);
}

TEST_CASE("the short way gives back what retention takes meanwhile, and the long one finishes it as lost, once") {
    for (const char* point : {"fresh.seen", "fresh.changed"}) {
        INFO(point);
        World world;
        const M::Scope scope(M::once_at(point, [&] { partition_log::delete_before(world.host_log, 5); }));
        CHECK(take_fresh(world, 2) == 0);
        CHECK(world.word(2) == 0);
        CHECK(world.take(2).took == Took::lost);
        CHECK(world.value(world.control().lost) == 1);
    }
    World world;
    LogRecords<M> records(world);
    LogLetters<M> letters(world, 1);
    Taking<M, LogLetters<M>> other(world.work(), world.shape.rules, letters, 1);
    const M::Scope scope(M::once_at("fresh.changed", [&] {
        partition_log::delete_before(world.host_log, 5);
        CHECK(other.take(2, world.now(), records).took == Took::lost);  // under the lock of the first
    }));
    CHECK(take_fresh(world, 2) == 0);
    CHECK(world.word(2) == done_word(2, DoneReason::lost));
    CHECK(world.take(2).took == Took::nothing);
    CHECK(world.value(world.control().lost) == 1);
}

TEST_CASE("the short way loses against whoever takes or finishes the record meanwhile") {
    for (const std::uint64_t theirs : {locked_word(1, 0, 1'001'000, kOther, 0), done_word(2, DoneReason::acked)}) {
        World world;
        const M::Scope scope(M::once_at("fresh.seen", [&] { world.set_word(2, theirs); }));
        CHECK(take_fresh(world, 2) == 0);
        CHECK(world.word(2) == theirs);
    }
}
