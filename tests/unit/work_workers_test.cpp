// The workers of a queue: their slots, their caps, and what becomes of the records of dead ones.
#include "work_table/workers.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_work.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace ringmain::work_table;

namespace {

using M = HookedMemory;
using Work = PlainWork<M>;

constexpr auto kNobodyDead = [](std::uint64_t) { return false; };
constexpr auto kNothingHeld = [](std::uint32_t, std::uint64_t) { return true; };

template <class W>
auto returning(W& work) {
    return [&work](std::uint32_t slot, std::uint64_t dead) {
        (void)return_records(work.work(), work.shape.rules, slot, [&] { return work.workers.owner(slot) == dead; }, work.now());
        return true;
    };
}

std::uint64_t held(const Work& work, std::uint32_t slot) { return Work::value(work.workers.slot(slot).held); }

}  // namespace

TEST_CASE("each worker has a slot of its own; when living ones have all there is none") {
    Work work;
    for (std::uint32_t i = 0; i < 4; ++i) {
        CHECK(work.workers.join(kClientA + i, kNobodyDead, kNothingHeld) == i);
        CHECK(work.workers.owner(i) == kClientA + i);
    }
    CHECK_FALSE(work.workers.join(kClientA + 9, kNobodyDead, kNothingHeld));
    work.workers.leave(2, kClientA + 2);
    CHECK(work.workers.join(kClientA + 9, kNobodyDead, kNothingHeld) == 2);
}

TEST_CASE("leaving frees only the own slot") {
    Work work;
    REQUIRE(work.workers.join(kClientA, kNobodyDead, kNothingHeld) == 0);
    work.workers.leave(0, kClientB);
    CHECK(work.workers.owner(0) == kClientA);
}

TEST_CASE("a dead worker's slot is taken over after its records were returned, counted and with their back-off") {
    Work work;
    for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(work.workers.join(kClientA + i, kNobodyDead, kNothingHeld));
    work.publish_many(4);
    PlainWorker<M> dead(work, 2);
    PlainWorker<M> other(work, 1);
    REQUIRE(dead.acquire(2).records == 2);
    REQUIRE(other.acquire(1).records == 1);
    const auto is_dead = [](std::uint64_t client) { return client == kClientA + 2; };
    CHECK(work.workers.join(kClientA + 9, is_dead, returning(work)) == 2);
    CHECK(held(work, 2) == 0);
    CHECK(work.word(0) == ready_word(1, 0, work.now() + 100, 0));
    CHECK(work.word(1) == ready_word(1, 0, work.now() + 100, 0));
    CHECK(state_of(work.word(2)) == WorkState::locked);
    CHECK(Work::value(work.control().returned) == 2);
    CHECK(dead.ack(dead.records.held[0]).answer == Answer::taken);
    work.pass(100);
    PlainWorker<M> heir(work, 2);
    REQUIRE(heir.acquire(2).records == 2);
    CHECK(count_of(heir.records.held[0].word) == 2);
}

TEST_CASE("returning: the last delivery of a dead worker ends in a letter, and a letter that it prepared is prepared by others") {
    Work work;
    REQUIRE(work.workers.join(kClientA, kNobodyDead, kNothingHeld) == 0);
    work.publish_many(3);
    PlainWorker<M> other(work, 1);
    REQUIRE(other.acquire(3).records == 3);
    work.set_word(0, locked_word(3, 0, work.now() + 500, 0, 0));
    work.set_word(1, preparing_word(LetterReason::rejected, 2, work.now() + 500, 0, 0));
    work.set_word(2, locked_word(2, 0, work.now() + 500, 0, 1));  // another lap's, and free
    returning(work)(0, kClientA);
    CHECK(work.word(0) == condemned_word(3, work.now() + 400, LetterReason::died, 0));
    CHECK(work.word(1) == condemned_word(2, work.now(), LetterReason::rejected, 0));
    CHECK(work.word(2) == locked_word(2, 0, work.now() + 500, 0, 1));
    CHECK(Work::value(work.control().returned) == 1);
    (void)other.acquire(1);
    CHECK(work.word(1) == done_word(1, DoneReason::dead));
    work.pass(500);
    (void)other.acquire(1);
    CHECK(work.word(0) == done_word(0, DoneReason::dead));
    CHECK(work.letters_about(0) == 1);
}

TEST_CASE("returning stops when the slot has another holder: its words look alike") {
    Work work;
    work.publish_many(2);
    REQUIRE(work.workers.join(kClientA, kNobodyDead, kNothingHeld) == 0);
    PlainWorker<M> worker(work, 0);
    REQUIRE(worker.acquire(2).records == 2);
    const std::uint64_t word = work.word(0);
    CHECK(return_records(work.work(), work.shape.rules, 0, [&] { return work.workers.owner(0) == kClientB; }, work.now()) == 0);
    CHECK(work.word(0) == word);
}

TEST_CASE("returning loses against whoever took a record meanwhile") {
    Work work;
    work.publish_many(1);
    PlainWorker<M> worker(work, 0);
    REQUIRE(worker.get());
    const M::Scope scope(M::once_at("reap.seen", [&] { work.set_word(0, locked_word(2, 1, work.now() + 900, 1, 0)); }));
    CHECK(return_records(work.work(), work.shape.rules, 0, [] { return true; }, work.now()) == 0);
    CHECK(work.word(0) == locked_word(2, 1, work.now() + 900, 1, 0));
}

TEST_CASE("a reaper that dies anywhere leaves the rest to the next one") {
    for (const char* step : {"reap.seen", "reap.returned", "worker.taken"}) {
        INFO(step);
        PlainWork<DyingMemory> work;
        for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(work.workers.join(kClientA + i, kNobodyDead, kNothingHeld));
        work.publish_many(3);
        PlainWorker<DyingMemory> dead(work, 3);
        REQUIRE(dead.acquire(3).records == 3);
        const auto is_dead = [](std::uint64_t client) { return client == kClientA + 3 || client == kClientA + 9; };
        REQUIRE(DyingMemory::dies_at(step, [&] { (void)work.workers.join(kClientA + 9, is_dead, returning(work)); }));
        CHECK(work.workers.join(kClientA + 10, is_dead, returning(work)) == 3);
        work.pass(100);
        PlainWorker<DyingMemory> heir(work, 3);
        CHECK(heir.acquire(3).records == 3);
    }
}

TEST_CASE("a dead worker's slot that another one frees meanwhile is taken as a free one, and by one only") {
    Work work;
    for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(work.workers.join(kClientA + i, kNobodyDead, kNothingHeld));
    const auto is_dead = [](std::uint64_t client) { return client == kClientA + 3; };
    const auto is_nine = [](std::uint64_t client) { return client == kClientA + 9; };
    const auto meanwhile = [&](std::uint32_t slot, std::uint64_t) { return work.workers.free(slot, kClientA + 3); };
    CHECK(work.workers.join(kClientA + 9, is_dead, meanwhile) == 3);
    CHECK_FALSE(work.workers.free(3, kClientA + 3));
    const auto overtaken = [&](std::uint32_t, std::uint64_t) { return work.workers.join(kClientA + 11, is_nine, kNothingHeld) == 3; };
    CHECK_FALSE(work.workers.join(kClientA + 10, is_nine, overtaken));
    CHECK(work.workers.owner(3) == kClientA + 11);
}

TEST_CASE("without a cap everything may be locked, and is counted") {
    Work work;
    CHECK(work.workers.announce(0, 7, 0, work.now() + 1'000, work.now()) == 7);
    CHECK(held(work, 0) == 7);
    work.workers.settle(0, 3);
    CHECK(held(work, 0) == 4);
}

TEST_CASE("a cap on all workers together: as many as fit, never more, and again when others have settled") {
    WorkShape shape;
    shape.rules.in_flight_max = 5;
    Work work(shape);
    work.publish_many(12);
    for (std::uint32_t i = 0; i < 2; ++i) REQUIRE(work.workers.join(kClientA + i, kNobodyDead, kNothingHeld));
    PlainWorker<M> a(work, 0);
    PlainWorker<M> b(work, 1);
    CHECK(a.acquire(3).records == 3);
    const auto first = a.records.held;
    CHECK(b.acquire(4).records == 2);
    CHECK(b.acquire(1).records == 0);
    CHECK(a.acquire(1).records == 0);
    CHECK(held(work, 0) + held(work, 1) == 5);
    CHECK(a.ack(first[0]).answer == Answer::done);
    CHECK(b.acquire(4).records == 1);
    CHECK(held(work, 0) + held(work, 1) == 5);
}

TEST_CASE("what was announced and not found is given back") {
    WorkShape shape;
    shape.rules.in_flight_max = 5;
    Work work(shape);
    work.publish_many(1);
    PlainWorker<M> a(work, 0);
    CHECK(a.acquire(5).records == 1);
    CHECK(held(work, 0) == 1);
}

TEST_CASE("two workers that announce at the same moment never exceed the cap together, and a part that fits is taken") {
    WorkShape shape;
    shape.rules.in_flight_max = 5;
    Work work(shape);
    for (std::uint32_t i = 0; i < 2; ++i) REQUIRE(work.workers.join(kClientA + i, kNobodyDead, kNothingHeld));
    std::uint32_t theirs = 0;
    const M::Scope scope(M::once_at("caps.announced", [&] { theirs = work.workers.announce(1, 4, 5, work.now() + 100, work.now()); }));
    const std::uint32_t mine = work.workers.announce(0, 4, 5, work.now() + 100, work.now());
    CHECK(mine + theirs <= 5);
    CHECK(held(work, 0) == mine);
    CHECK(held(work, 1) == theirs);
}

TEST_CASE("the share of a stopped worker is counted until its last lock has run out, that of a dead one until it is returned") {
    WorkShape shape;
    shape.now = GENERATE(std::uint64_t{1'000'000}, kClockMask - 60'000, kClockMask - 500);
    Work work(shape);
    for (std::uint32_t i = 0; i < 2; ++i) REQUIRE(work.workers.join(kClientA + i, kNobodyDead, kNothingHeld));
    CHECK(work.workers.announce(1, 5, 5, work.now() + 1'000, work.now()) == 5);
    work.workers.extend(1, work.now() + 3'000, work.now());
    work.workers.extend(1, work.now() + 2'000, work.now());  // not shorter
    work.pass(2'999);
    CHECK(work.workers.announce(0, 5, 5, work.now() + 1'000, work.now()) == 0);
    CHECK(held(work, 0) == 0);
    SECTION("stopped") {
        work.pass(1);
        CHECK(work.workers.announce(0, 5, 5, work.now() + 1'000, work.now()) == 5);
    }
    SECTION("dead") {
        CHECK(work.workers.free(1, kClientA + 1));
        CHECK(work.workers.announce(0, 5, 5, work.now() + 1'000, work.now()) == 5);
    }
}
