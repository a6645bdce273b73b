// The rows of "What if the process dies, or stops and wakes, here" of work queues, by their labels: the process dies right
// there and others go on; or it wakes up when they have finished everything, and changes nothing.
#include <string>
#include <vector>

#include "partition_log/log_start.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_work.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace ringmain::work_table;

namespace {

/// Worker `a` is the one that something happens to, `b` an honest other. `a` holds records 0 and 1 of 6.
template <class M>
struct World : PlainWork<M> {
    explicit World(const WorkShape& what = {}) : PlainWork<M>(what) {
        this->publish_many(6);
        (void)a.acquire(2);
        held = {a.records.held[0], a.records.held[1]};
    }

    /// `b` finishes everything, in whatever time it takes.
    void others_finish() {
        for (int i = 0; i < 100 && this->start() < this->log_end(); ++i) {
            const Acquired acquired = b.acquire(4);
            for (std::size_t k = 0; k < acquired.records; ++k) CHECK(b.ack(b.records.held[k]).answer == Answer::done);
            deliveries += acquired.records;
            if (acquired.records == 0) this->pass(kSweepMs);
        }
        CHECK(this->start() == this->log_end());
    }
    /// Each record is one thing, a dead one with one letter.
    void check_outcomes() {
        for (std::uint64_t offset = 0; offset < 6; ++offset) {
            INFO("offset " << offset);
            if (!this->done(offset)) continue;  // its word is a later offset's by now
            const DoneReason reason = done_reason(this->word(offset));
            CHECK(this->letters_about(offset) == (reason == DoneReason::dead ? 1 : 0));
        }
    }
    [[nodiscard]] std::vector<std::uint64_t> image() {
        std::vector<std::uint64_t> all{this->start(), this->letters_about(0) + this->letters_about(1)};
        for (std::uint64_t i = 0; i < this->shape.window; ++i) all.push_back(this->word(i));
        return all;
    }

    PlainWorker<M> a{*this, 0};
    PlainWorker<M> b{*this, 1};
    std::array<HeldRecord, 2> held;
    std::uint64_t deliveries = 0;
};

template <class M>
struct Row {
    const char* label;
    const char* point;
    void (*prepare)(World<M>&);
    void (*operation)(World<M>&);
    WorkShape shape = {};
};

template <class M>
std::vector<Row<M>> rows() {
    using W = World<M>;
    const auto nothing = [](W&) {};
    const auto acquire = [](W& world) { (void)world.a.acquire(3); };
    const auto reject = [](W& world) { (void)world.a.reject(world.held[0]); };
    const auto release_first = [](W& world) { (void)world.a.release(world.held[0]); };
    WorkShape capped;
    capped.rules.in_flight_max = 5;
    WorkShape narrow;
    narrow.window = 4;
    std::vector<Row<M>> all = {
        {"claim: after CAS(frontier)", "claim.claimed", nothing, acquire},
        {"take: before CAS -> LOCKED", "fresh.seen", nothing, acquire},
        {"take: after CAS -> LOCKED", "fresh.changed", nothing, acquire},
        {"take: hint not lowered", "fresh.changed", [](W& world) { world.control().next_due.store(world.now() + kSweepMs, std::memory_order_release); },
         acquire},
        {"take again: before CAS -> LOCKED", "take.seen", release_first, acquire},
        {"take again: after CAS -> LOCKED", "take.changed", release_first, acquire},
        {"take again: copied", "take.copied", release_first, acquire},
        {"sweep: after raising next_due", "sweep.raised", release_first, acquire},
        {"sweep: before lowering it", "sweep.swept", release_first, acquire},
        {"ack: after CAS", "ack.done", nothing, [](W& world) { (void)world.a.ack(world.held[0]); }},
        {"nack: after CAS", "nack.done", nothing, [](W& world) { (void)world.a.nack(world.held[0]); }},
        {"release: after CAS", "nack.done", nothing, [](W& world) { (void)world.a.release(world.held[0]); }},
        {"renew: after CAS", "renew.done", nothing,
         [](W& world) {
             HeldRecord copy = world.held[0];
             (void)world.a.renew(copy, 900);
         }},
        {"advance: before its CAS", "advance.seen", [](W& world) { world.set_word(0, done_word(0, DoneReason::acked)); },
         [](W& world) { (void)advance(world.work()); }},
        {"advance: after its CAS", "advance.moved", [](W& world) { world.set_word(0, done_word(0, DoneReason::acked)); },
         [](W& world) { (void)advance(world.work()); }},
        {"letter: PREPARING", "reject.preparing", nothing, reject},
        {"letter: ticket taken, no INTENT", "letter.ticket", nothing, reject},
        {"letter: INTENT, not committed", "letter.intent", nothing, reject},
        {"letter: committed, no DONE", "letter.committed", nothing, reject},
        {"finish: after close", "finish.closed",
         [](W& world) {
             LogLetters<M> letters(world, 3);
             world.set_word(0, intent_word(LetterReason::rejected, 1, letters.take_ticket().offset, 0));
         },
         [](W& world) {
             LogLetters<M> letters(world, 2);
             Lettering<M, LogLetters<M>> lettering(world.work(), world.shape.rules, letters, 2);
             (void)lettering.finish(0, world.word(0), world.now());
         }},
        {"caps: announced, not locked", "caps.announced", nothing, acquire, capped},
        {"reap: in mid-sweep", "reap.returned", nothing,
         [](W& world) { (void)return_records(world.work(), world.shape.rules, 0, [] { return true; }, world.now()); }},
        {"lost: locked by the sweep, not yet DONE(lost)", "take.changed",
         [](W& world) {
             partition_log::delete_before(world.host_log, 2);
             world.pass(kSweepMs);
         },
         [](W& world) { (void)world.a.acquire(1); }},
        {"jump: start moved, not counted", "jump.moved", [](W& world) { world.publish_many(40); },
         [](W& world) {
             world.pass(kSweepMs);
             (void)world.a.acquire(4);
         },
         narrow},
    };
    return all;
}

}  // namespace

TEST_CASE("queue rows: whoever dies there loses nothing, doubles no letter, and blocks nobody") {
    for (const auto& row : rows<DyingMemory>()) {
        INFO(row.label);
        World<DyingMemory> world(row.shape);
        row.prepare(world);
        REQUIRE(DyingMemory::dies_at(row.point, [&] { row.operation(world); }));
        world.others_finish();
        world.check_outcomes();
    }
}

TEST_CASE("queue rows: whoever stops there and wakes up late changes nothing of others") {
    for (const auto& row : rows<HookedMemory>()) {
        INFO(row.label);
        World<HookedMemory> world(row.shape);
        row.prepare(world);
        std::vector<std::uint64_t> image;
        const HookedMemory::Scope scope(HookedMemory::once_at(row.point, [&] {
            world.others_finish();
            world.check_outcomes();
            image = world.image();
        }));
        row.operation(world);
        REQUIRE_FALSE(image.empty());
        CHECK(world.image() == image);
        for (const HeldRecord& held : world.held) CHECK(world.a.ack(held).answer != Answer::done);
        CHECK(world.image() == image);
    }
}

TEST_CASE("queue row handler: a holder that dies without an answer costs a delivery, and after the last one a letter") {
    World<HookedMemory> world;
    world.others_finish();
    CHECK(done_reason(world.word(0)) == DoneReason::acked);
    CHECK(world.deliveries == 6);
    CHECK(WorkView<HookedMemory>::value(world.control().redelivered) == 2);
}

TEST_CASE("queue row alias: a later record that was locked by mistake, and not given back, comes back when that lock runs out") {
    WorkShape shape{.log = {.records = 16}, .window = 1};
    PlainWork<DyingMemory> work(shape);
    work.publish_many(1);
    // what a late worker that died behind its exchange left: offset 0 locked by it, counted once too much
    work.control().frontier.store(1, std::memory_order_release);
    work.set_word(0, locked_word(2, 1, work.now() + 1'000, 3, 0));
    PlainWorker<DyingMemory> b(work, 1);
    CHECK_FALSE(b.get());
    work.pass(1'200);
    const auto again = b.get();
    REQUIRE(again);
    CHECK(count_of(again->word) == 3);
    CHECK(b.ack(*again).answer == Answer::done);
}

TEST_CASE("queue row reset: the old words are used by nobody any more, whoever still has them") {
    World<HookedMemory> world;
    world.reset(0);
    PlainWorker<HookedMemory> fresh(world, 2);
    std::uint64_t got = fresh.acquire(6).records;
    CHECK(got == 6);
    CHECK(world.a.ack(world.held[0]).answer == Answer::fenced);
    CHECK(world.a.acquire(4).why == Short::fenced);
    CHECK(world.b.acquire(4).why == Short::fenced);
    for (std::size_t i = 0; i < 6; ++i) CHECK(fresh.ack(fresh.records.held[i]).answer == Answer::done);
    CHECK(world.start() == 6);
}
