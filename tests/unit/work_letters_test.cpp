// Dead letters: one for each record, at whichever step its writer stops, and whoever finishes it.
#include "work_table/letters.hpp"

#include <string>

#include "partition_log/log_start.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_work.hpp"
#include "work_table/relinking.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace ringmain::work_table;

namespace {

/// Two workers; `a` holds record 0, which is to be rejected.
template <class M>
struct World : PlainWork<M> {
    explicit World(const WorkShape& what = {}) : PlainWork<M>(what) {
        this->publish_many(3);
        held = *a.get();
        (void)b.acquire(2);
        for (std::size_t i = 0; i < 2; ++i) (void)b.ack(b.records.held[i]);
    }
    /// Everything that waits for a time, or for a worker to come by, happens.
    void go_on() {
        for (int i = 0; i < 30; ++i) {
            this->pass(kSweepMs);
            CHECK(b.acquire(4).records == 0);
        }
    }
    /// Exactly one letter, and the record is finished by it.
    void check_dead(LetterReason reason = LetterReason::rejected) {
        CHECK(this->word(0) == done_word(0, DoneReason::dead));
        CHECK(this->letters_about(0) == 1);
        for (std::uint64_t at = 0; at < this->letters_end(); ++at) {
            if (const auto letter = this->letter(at)) CHECK(letter->reason == static_cast<std::uint32_t>(reason));
        }
        CHECK(this->value(this->control().dead_lettered) == 1);
        CHECK(this->start() == 3);
    }
    PlainWorker<M> a{*this, 0};
    PlainWorker<M> b{*this, 1};
    HeldRecord held;
};

constexpr auto kSteps = {"reject.preparing", "take.taking", "take.taken", "letter.ticket", "letter.intent", "commit.written",
                         "letter.committed"};

}  // namespace

TEST_CASE("a letter's writer that dies at any step leaves one letter to be written by others, never two") {
    for (const std::string step : kSteps) {
        INFO(step);
        World<DyingMemory> world;
        REQUIRE(DyingMemory::dies_at(step, [&] { (void)world.a.reject(world.held); }));
        CHECK_FALSE(world.done(0));
        world.go_on();
        world.check_dead();
    }
}

TEST_CASE("a letter's writer that stops at any step and wakes up when others have finished changes nothing") {
    for (const std::string step : kSteps) {
        INFO(step);
        World<HookedMemory> world;
        std::uint64_t letters = 0;
        const HookedMemory::Scope scope(HookedMemory::once_at(step, [&] {
            world.go_on();
            world.check_dead();
            letters = world.letters_end();
        }));
        (void)world.a.reject(world.held);
        world.check_dead();
        CHECK(world.letters_end() <= letters + 1);
    }
}

TEST_CASE("a letter's ticket that a reader of the dead letters closes is no letter: another one is written") {
    for (const std::string step : {"letter.ticket", "letter.intent", "commit.written"}) {
        INFO(step);
        World<HookedMemory> world;
        const HookedMemory::Scope scope(HookedMemory::once_at(step, [&] {
            CHECK(partition_log::close_ticket(world.host_letters, 0) == partition_log::Decision::closed);
        }));
        CHECK(world.a.reject(world.held).answer == Answer::done);
        CHECK_FALSE(world.done(0));
        CHECK(world.letters_about(0) == 0);
        world.go_on();
        world.check_dead();
    }
}

TEST_CASE("a finisher that dies at any step leaves the letter to the next one") {
    for (const std::string step : {"finish.closed", "finish.taken", "letter.ticket", "letter.intent", "letter.committed"}) {
        INFO(step);
        World<DyingMemory> world;
        REQUIRE(DyingMemory::dies_at("letter.intent", [&] { (void)world.a.reject(world.held); }));
        {
            PlainWorker<DyingMemory> finisher(world, 2);
            world.pass(kSweepMs);
            CHECK(finisher.acquire(1).records == 0);
            world.pass(kSweepMs);
            REQUIRE(DyingMemory::dies_at(step, [&] { (void)finisher.acquire(1); }));
        }
        world.go_on();
        world.check_dead();
    }
}

TEST_CASE("two finishers of a committed letter count it once") {
    World<HookedMemory> world;
    const HookedMemory::Scope scope(HookedMemory::once_at("letter.committed", [&] {
        const HookedMemory::Scope inner(HookedMemory::once_at("finish.closed", [&] {
            LogLetters<HookedMemory> other(world, 3);
            Lettering<HookedMemory, LogLetters<HookedMemory>> second(world.work(), world.shape.rules, other, 3);
            CHECK(second.finish(0, world.word(0), world.now()) == Ended::finished);
        }));
        LogLetters<HookedMemory> log(world, 2);
        Lettering<HookedMemory, LogLetters<HookedMemory>> first(world.work(), world.shape.rules, log, 2);
        CHECK(first.finish(0, world.word(0), world.now()) == Ended::finished);
    }));
    (void)world.a.reject(world.held);
    world.go_on();
    world.check_dead();
}

TEST_CASE("a letter that has left the dead-letter log by the time somebody finishes it is written again, alone") {
    WorkShape shape;
    shape.letters.records = 16;
    World<DyingMemory> world(shape);
    REQUIRE(DyingMemory::dies_at("letter.committed", [&] { (void)world.a.reject(world.held); }));
    CHECK(world.letters_about(0) == 1);
    partition_log::SharedPublisher<platform::HostMemory> others(world.host_letters, 2, 1);
    for (int i = 0; i < 20; ++i) REQUIRE(others.publish(parts_of("other")).status == Status::ok);
    CHECK(world.letters_about(0) == 0);
    world.go_on();
    world.check_dead();
}

TEST_CASE("while the dead-letter topic refuses, the record stays, is delivered to nobody, and is counted") {
    World<HookedMemory> world;
    world.board->refuses.store(1, std::memory_order_release);
    const Answered answered = world.a.reject(world.held);
    CHECK(answered.answer == Answer::letters_refused);
    CHECK(answered.ended);
    CHECK(condemned(world.word(0)));
    CHECK(reason_of(world.word(0)) == LetterReason::rejected);
    CHECK(time_of(world.word(0)) == world.now() + 100);
    world.go_on();
    CHECK(condemned(world.word(0)));
    CHECK(world.start() == 0);
    CHECK(WorkView<HookedMemory>::value(world.control().letters_refused) > 2);
    for (const auto answer : {world.a.ack(world.held).answer, world.a.nack(world.held).answer}) CHECK(answer == Answer::taken);
    world.board->refuses.store(0, std::memory_order_release);
    world.go_on();
    world.check_dead();
}

TEST_CASE("without a back-off a letter that is refused is tried again after a while, not at once") {
    WorkShape shape;
    shape.rules.backoff_first_ms = shape.rules.backoff_max_ms = 0;
    World<HookedMemory> world(shape);
    world.board->refuses.store(1, std::memory_order_release);
    CHECK(world.a.reject(world.held).answer == Answer::letters_refused);
    CHECK(time_of(world.word(0)) == world.now() + kLetterAgainMs);
    for (int i = 0; i < 10; ++i) CHECK(world.b.acquire(1).records == 0);
    CHECK(WorkView<HookedMemory>::value(world.control().letters_refused) == 1);
    world.board->refuses.store(0, std::memory_order_release);
    world.go_on();
    world.check_dead();
}

TEST_CASE("a gating dead-letter topic that is full stops the letters, and goes on when there is room") {
    WorkShape shape;
    shape.letters = {.records = 16, .block = true};
    World<HookedMemory> world(shape);
    gate_table::GateTable<platform::HostMemory> gates(world.host_letters.readers);
    world.host_letters.readers->gates[0].owner.store(kClientC, std::memory_order_release);
    gates.hold(0, 0, world.host_letters.control->gate_floor);
    partition_log::SharedPublisher<platform::HostMemory> others(world.host_letters, 2, 1);
    while (others.publish(parts_of("other")).status == Status::ok) {
    }
    CHECK(world.a.reject(world.held).answer == Answer::letters_refused);
    world.go_on();
    CHECK(condemned(world.word(0)));
    gates.move(0, 10);
    world.go_on();
    world.check_dead();
}

TEST_CASE("a ticket that a word cannot name is given up, and the record stays") {
    WorkShape shape;
    shape.letters.first_offset = kTicketMax + 1;
    World<HookedMemory> world(shape);
    CHECK(world.a.reject(world.held).answer == Answer::letters_refused);
    CHECK(condemned(world.word(0)));
    CHECK(world.host_letters.producers[0].ticket.load(std::memory_order_acquire) == partition_log::kIdle);
    CHECK(partition_log::Reader<platform::HostMemory>(world.host_letters).is_decided(kTicketMax + 1));
}

TEST_CASE("a dead-letter topic that was deleted keeps every record that was to go there, announced or not") {
    World<HookedMemory> world;
    SECTION("before the letter") {
        world.board->deleted.store(1, std::memory_order_release);
        CHECK(world.a.reject(world.held).answer == Answer::letters_refused);
        CHECK(condemned(world.word(0)));
    }
    SECTION("between the announcement and the letter") {
        world.set_word(0, intent_word(LetterReason::rejected, 1, 0, 0));
        world.board->deleted.store(1, std::memory_order_release);
    }
    const std::uint64_t refused = world.value(world.control().letters_refused);
    world.go_on();
    CHECK_FALSE(world.done(0));
    CHECK(world.value(world.control().letters_refused) > refused);
    CHECK(world.start() == 0);
}

TEST_CASE("an announced letter whose topic is made anew is announced there again, and a late writer of the old one changes nothing") {
    World<HookedMemory> world;
    const HookedMemory::Scope scope(HookedMemory::once_at("letter.ticket", [&] {
        world.board->deleted.store(1, std::memory_order_release);
        forget_tickets(world.work(), world.now());
        world.board->deleted.store(0, std::memory_order_release);  // that is the new one
        CHECK(condemned(world.word(0)));
        CHECK(reason_of(world.word(0)) == LetterReason::rejected);
        CHECK(count_of(world.word(0)) == 1);
    }));
    (void)world.a.reject(world.held);
    world.go_on();
    CHECK(world.word(0) == done_word(0, DoneReason::dead));
    CHECK(world.letters_about(0) == 1);
}

TEST_CASE("a rejection that comes after a reset writes no letter: the record may be delivered again") {
    World<HookedMemory> world;
    world.reset(0);
    CHECK(world.a.reject(world.held).answer == Answer::fenced);
    CHECK(world.letters_end() == 0);
}

TEST_CASE("a rejection in which the queue is reset, and its old words retired, writes no letter from then on") {
    for (const std::string step : kSteps) {
        INFO(step);
        World<HookedMemory> world;
        std::uint64_t letters = 0;
        const HookedMemory::Scope scope(HookedMemory::once_at(step, [&] {
            const auto old = world.work();
            world.reset(0);
            LogLetters<HookedMemory> log(world, 2);
            (void)retire(old, log);
            CHECK(retire(old, log) == 0);
            letters = world.letters_about(0);
        }));
        CHECK(world.a.reject(world.held).answer == Answer::fenced);
        CHECK(world.letters_about(0) == letters);
        CHECK(letters == (step == "letter.committed" ? 1 : 0));
        CHECK(world.start() == 0);
    }
}

TEST_CASE("retiring: no answer of before the reset changes anything any more, whoever retires first") {
    World<HookedMemory> world;
    const auto old = world.work();
    world.reset(0);
    LogLetters<HookedMemory> log(world, 2);
    const HookedMemory::Scope scope(HookedMemory::once_at("retire.seen", [&] { CHECK(retire(old, log) == 1); }));
    CHECK(retire(old, log) == 0);
    for (const Answer answer : {world.a.ack(world.held).answer, world.a.nack(world.held).answer, world.a.release(world.held).answer})
        CHECK(answer == Answer::fenced);
    CHECK(old.word_of(0) == 0);
}

TEST_CASE("a record that retention takes while its letter waits is lost, not dead, and not both") {
    World<HookedMemory> world;
    world.board->refuses.store(1, std::memory_order_release);
    CHECK(world.a.reject(world.held).answer == Answer::letters_refused);
    partition_log::delete_before(world.host_log, 2);
    world.board->refuses.store(0, std::memory_order_release);
    world.go_on();
    CHECK(world.word(0) == done_word(0, DoneReason::lost));
    CHECK(world.letters_end() == 0);
    CHECK(WorkView<HookedMemory>::value(world.control().lost) == 1);
    CHECK(world.start() == 3);
}

TEST_CASE("a record that retention takes when its letter is announced is dead, and not lost") {
    World<DyingMemory> world;
    REQUIRE(DyingMemory::dies_at("letter.intent", [&] { (void)world.a.reject(world.held); }));
    partition_log::delete_before(world.host_log, 2);
    world.go_on();
    world.check_dead();
    CHECK(WorkView<DyingMemory>::value(world.control().lost) == 0);
}
