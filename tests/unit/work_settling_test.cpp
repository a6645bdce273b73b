// What a holder says of its record: in time, late but before anybody else, and too late.
#include "work_table/settling.hpp"

#include <optional>
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
using Worker = PlainWorker<M>;

/// Two workers; `a` holds record 0.
struct World : Work {
    explicit World(const WorkShape& what = {}) : Work(what) {
        publish_many(4);
        held = *a.get();
    }
    /// Lets the lock of `a` run out, and `b` take the record.
    HeldRecord taken_by_b() {
        pass(1'100);
        const auto taken = b.get();
        REQUIRE(taken);
        REQUIRE(taken->offset == 0);
        return *taken;
    }
    Worker a{*this, 0};
    Worker b{*this, 1};
    HeldRecord held;
};

enum class Say { ack, nack, release, reject, renew };

Answered say(Say what, Worker& worker, HeldRecord& held) {
    switch (what) {
        case Say::ack: return worker.ack(held);
        case Say::nack: return worker.nack(held);
        case Say::release: return worker.release(held);
        case Say::reject: return worker.reject(held);
        default: return worker.renew(held, 1'000);
    }
}
constexpr auto kAll = {Say::ack, Say::nack, Say::release, Say::reject, Say::renew};

}  // namespace

TEST_CASE("ack: finished for ever, and a second answer is told so") {
    World world;
    CHECK(world.a.ack(world.held).answer == Answer::done);
    CHECK(world.word(0) == done_word(0, DoneReason::acked));
    for (const Say what : kAll) CHECK(say(what, world.a, world.held).answer == Answer::finished);
    CHECK(world.word(0) == done_word(0, DoneReason::acked));
}

TEST_CASE("a late answer is as good as one in time while nobody has taken the record") {
    World world;
    world.pass(86'000'000);  // nearly a day
    SECTION("ack") {
        CHECK(world.a.ack(world.held).answer == Answer::done);
        CHECK(world.done(0));
    }
    SECTION("renew") {
        CHECK(world.a.renew(world.held, 1'000).answer == Answer::done);
        CHECK(world.b.acquire(1).records == 1);
        CHECK(world.b.records.held[0].offset == 1);  // 0 is held again
        CHECK(world.a.ack(world.held).answer == Answer::done);
    }
    SECTION("nack") {
        CHECK(world.a.nack(world.held, 0).answer == Answer::done);
        CHECK(world.b.get()->offset == 0);
    }
    SECTION("release") {
        CHECK(world.a.release(world.held).answer == Answer::done);
        CHECK(count_of(world.b.get()->word) == 1);
    }
    SECTION("reject") {
        CHECK(world.a.reject(world.held).answer == Answer::done);
        CHECK(world.letters_about(0) == 1);
    }
}

TEST_CASE("an answer after another worker has taken the record is refused, says who has it, and changes nothing") {
    for (const Say what : kAll) {
        World world;
        const HeldRecord theirs = world.taken_by_b();
        const Answered answered = say(what, world.a, world.held);
        CHECK(answered.answer == Answer::taken);
        CHECK(answered.slot == 1);
        CHECK(world.word(0) == theirs.word);
        CHECK(world.b.ack(theirs).answer == Answer::done);
        CHECK(say(what, world.a, world.held).answer == Answer::finished);
        CHECK(world.letters_end() == 0);
    }
}

TEST_CASE("an answer after a reaper gave the record back is refused, and says that nobody has it") {
    for (const Say what : kAll) {
        World world;
        (void)return_records(world.work(), world.shape.rules, 0, [] { return true; }, world.now());
        const std::uint64_t ready = world.word(0);
        const Answered answered = say(what, world.a, world.held);
        CHECK(answered.answer == Answer::taken);
        CHECK_FALSE(answered.slot);
        CHECK(world.word(0) == ready);
    }
}

TEST_CASE("an answer about a record that was lost says so, and one that comes before the loss was noticed counts") {
    for (const Say what : kAll) {
        World world;
        partition_log::delete_before(world.host_log, 3);
        world.pass(kSweepMs);
        (void)world.b.acquire(1);
        REQUIRE(world.word(0) == done_word(0, DoneReason::lost));
        CHECK(say(what, world.a, world.held).answer == Answer::lost);
    }
    World world;
    partition_log::delete_before(world.host_log, 3);
    CHECK(world.a.ack(world.held).answer == Answer::done);
    CHECK(world.word(0) == done_word(0, DoneReason::acked));
}

TEST_CASE("an answer laps later, when the word is another offset's, is refused and changes nothing") {
    for (const Say what : kAll) {
        World world;
        (void)world.b.ack(world.taken_by_b());
        for (int i = 0; i < 10; ++i) {
            (void)world.b.acquire(8);
            for (std::size_t k = 0; k < world.b.records.count; ++k) CHECK(world.b.ack(world.b.records.held[k]).answer == Answer::done);
            world.publish_many(4);
        }
        REQUIRE(world.start() > 20);
        const std::uint64_t word = world.word(0);
        CHECK(say(what, world.a, world.held).answer == Answer::finished);
        CHECK(world.word(0) == word);
    }
}

TEST_CASE("what is no lock of this worker is refused before anything is touched") {
    World world;
    const std::uint64_t word = world.word(0);
    for (const std::uint64_t bad :
         {std::uint64_t{0}, done_word(0, DoneReason::acked), ready_word(1, 0, 5, 0), locked_word(1, 0, 5, 1, 0),
          locked_word(1, 0, 5, 0, 1), preparing_word(LetterReason::limit, 1, 5, 0, 0), intent_word(LetterReason::limit, 1, 5, 0)}) {
        for (const Say what : kAll) {
            HeldRecord held{0, bad, {}};
            CHECK(say(what, world.a, held).answer == Answer::invalid);
        }
    }
    HeldRecord elsewhere{~std::uint64_t{0}, world.held.word, {}};
    CHECK(world.a.ack(elsewhere).answer == Answer::invalid);
    CHECK(world.word(0) == word);
}

TEST_CASE("nack: available after the back-off, which grows, or after the delay that is given") {
    World world;
    HeldRecord held = world.held;
    for (const std::uint64_t wait : {100, 200}) {
        CHECK(world.a.nack(held).answer == Answer::done);
        CHECK(time_of(world.word(0)) == world.now() + wait);
        (void)world.b.acquire(3);  // the others are out of the way
        world.pass(wait - 1);
        CHECK_FALSE(world.a.get());
        world.pass(1);
        held = *world.a.get();
        CHECK(held.offset == 0);
    }
    CHECK(count_of(held.word) == 3);
}

TEST_CASE("nack with a delay waits that long, up to 12 hours") {
    World world;
    (void)world.b.acquire(3);
    const std::uint64_t delay = GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5'000}, kAheadMaxMs);
    CHECK(world.a.nack(world.held, delay).answer == Answer::done);
    if (delay != 0) {
        world.pass(delay - 1);
        std::optional<HeldRecord> early;
        while (world.a.acquire(1).records != 0) {
            early = world.a.records.held[0];
            CHECK(early->offset != 0);  // those of b run out meanwhile
            CHECK(world.a.ack(*early).answer == Answer::done);
        }
        world.pass(1);
    }
    const auto again = world.a.get();
    REQUIRE(again);
    CHECK(again->offset == 0);
}

TEST_CASE("nack of the last delivery: a letter, and no delivery more") {
    World world;
    HeldRecord held = world.held;
    for (int i = 0; i < 2; ++i) {
        CHECK_FALSE(world.a.nack(held, 0).ended);
        held = *world.a.get();
        REQUIRE(held.offset == 0);
    }
    const Answered answered = world.a.nack(held, 0);
    CHECK(answered.answer == Answer::done);
    CHECK(answered.ended);
    CHECK(world.word(0) == done_word(0, DoneReason::dead));
    CHECK(world.letter(0) == WorkLetter{0, 0, 3, static_cast<std::uint32_t>(LetterReason::limit)});
    CHECK(world.start() == 1);
}

TEST_CASE("without a limit a record is delivered again and again, and its count stays in its bits") {
    WorkShape shape;
    shape.rules.delivery_limit = 0;
    World world(shape);
    HeldRecord held = world.held;
    for (int i = 0; i < 100; ++i) {
        REQUIRE(world.a.nack(held, 0).answer == Answer::done);
        world.pass(1);
        held = *world.a.get();
        REQUIRE(held.offset == 0);
    }
    CHECK(count_of(held.word) == kCountMax - 1);
    CHECK(world.letters_end() == 0);
}

TEST_CASE("release: available at once, after every fourth lock a millisecond later, and not counted") {
    World world;
    HeldRecord held = world.held;
    for (int i = 0; i < 20; ++i) {
        CHECK(world.a.release(held).answer == Answer::done);
        Worker& next = i % 2 == 0 ? world.b : world.a;
        Worker& other = i % 2 == 0 ? world.a : world.b;
        const HeldRecord before = held;
        if (tag_of(before.word) == kTagMax) world.pass(1);
        held = *next.get();
        CHECK(held.offset == 0);
        CHECK(count_of(held.word) == 1);
        CHECK(other.ack(before).answer != Answer::done);  // the same worker's own, or another's: the tag differs
        if (next.slot() == 1) {
            CHECK(next.release(held).answer == Answer::done);
            if (tag_of(held.word) == kTagMax) world.pass(1);
            held = *world.a.get();
        }
    }
}

TEST_CASE("a lock that is given back and taken again in the same millisecond is another one") {
    World world;
    const HeldRecord first = world.held;
    CHECK(world.a.release(first).answer == Answer::done);
    const HeldRecord second = *world.a.get();
    REQUIRE(second.offset == 0);
    CHECK(second.word != first.word);
    CHECK(world.a.ack(first).answer == Answer::taken);
    CHECK(world.a.ack(second).answer == Answer::done);
}

TEST_CASE("reject: the record goes to the dead letters at once, or is skipped, as the rules say") {
    WorkShape shape;
    shape.rules.exhausted = GENERATE(EndOf::dead_letter, EndOf::skip);
    World world(shape);
    const Answered answered = world.a.reject(world.held);
    CHECK((answered.answer == Answer::done && answered.ended));
    if (shape.rules.exhausted == EndOf::dead_letter) {
        CHECK(world.word(0) == done_word(0, DoneReason::dead));
        CHECK(world.letter(0) == WorkLetter{0, 0, 1, static_cast<std::uint32_t>(LetterReason::rejected)});
    } else {
        CHECK(world.word(0) == done_word(0, DoneReason::skipped));
        CHECK(WorkView<M>::value(world.control().skipped) == 1);
        CHECK(world.letters_end() == 0);
    }
    CHECK(world.start() == 1);
}

TEST_CASE("renew: the lock lasts longer, the handle is a new one, and the old one is none") {
    World world;
    const HeldRecord old = world.held;
    world.pass(900);
    CHECK(world.a.renew(world.held, 5'000).answer == Answer::done);
    CHECK(time_of(world.held.word) == world.now() + 5'000);
    CHECK(count_of(world.held.word) == 1);
    CHECK(world.a.ack(old).answer == Answer::taken);
    (void)world.b.acquire(3);
    world.pass(5'099);
    CHECK_FALSE([&] {
        bool got = false;
        for (int i = 0; i < 5; ++i) got |= world.b.acquire(4).records != 0 && world.b.records.held[0].offset == 0;
        return got;
    }());
    CHECK(world.a.ack(world.held).answer == Answer::done);
}

TEST_CASE("renew may shorten a lock, too") {
    World world;
    (void)world.b.acquire(3);
    CHECK(world.a.renew(world.held, 10).answer == Answer::done);
    world.pass(109);
    CHECK_FALSE(world.b.get());
    world.pass(1);
    REQUIRE(world.b.get());
    CHECK(world.b.records.held[0].offset == 0);
    CHECK(count_of(world.b.records.held[0].word) == 2);
}

TEST_CASE("expiry counts as a delivery, waits for the back-off, and ends in a letter") {
    World world;
    (void)world.b.acquire(3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(world.b.ack(world.b.records.held[i]).answer == Answer::done);
    for (const std::uint64_t wait : {100, 200}) {
        world.pass(1'000 + wait - 1);
        CHECK_FALSE(world.b.get());
        world.pass(1);
        REQUIRE(world.b.get());
    }
    CHECK(count_of(world.b.records.held[0].word) == 3);
    world.pass(1'000 + 400);
    CHECK_FALSE(world.a.get());
    CHECK(world.word(0) == done_word(0, DoneReason::dead));
    CHECK(world.letter(0) == WorkLetter{0, 0, 3, static_cast<std::uint32_t>(LetterReason::died)});
    CHECK(WorkView<M>::value(world.control().expired) == 3);
    CHECK(WorkView<M>::value(world.control().redelivered) == 2);
}

TEST_CASE("an answer that was given to words of before a reset is answered as one") {
    for (const Say what : kAll) {
        World world;
        world.reset(0);
        CHECK(say(what, world.a, world.held).answer == Answer::fenced);
        CHECK(world.word(0) == 0);
        CHECK(world.start() == 0);
    }
}

TEST_CASE("a reset right behind the exchange of an answer is told, too") {
    World world;
    const M::Scope scope(M::once_at("ack.done", [&] { world.reset(0); }));
    CHECK(world.a.ack(world.held).answer == Answer::fenced);
    CHECK(world.start() == 0);
}

TEST_CASE("no two locks of a record have the same word, however often it is given back within one millisecond") {
    WorkShape shape;
    shape.rules.delivery_limit = 0;
    for (const bool counted : {false, true}) {
        World world(shape);
        std::vector<HeldRecord> all{world.held};
        while (all.size() < 12) {
            const Answered answered = counted ? world.a.nack(all.back(), 0) : world.a.release(all.back());
            REQUIRE(answered.answer == Answer::done);
            std::optional<HeldRecord> next = world.a.get();
            while (!next || next->offset != 0) {  // it waits for the next millisecond
                world.pass(1);
                next = world.a.get();
            }
            for (const HeldRecord& before : all) {
                CHECK(next->word != before.word);
                CHECK(world.a.ack(before).answer != Answer::done);
            }
            all.push_back(*next);
        }
    }
}
