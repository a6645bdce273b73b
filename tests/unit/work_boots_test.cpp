// Words that lie on a disk while the machine is booted: the clock begins anew, and times of before must not hold
// anything back.
#include "work_table/boots.hpp"

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_work.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace ringmain::work_table;

namespace {

using M = HookedMemory;
using Worker = PlainWorker<M>;

constexpr std::uint64_t kBoot = 11;
constexpr std::uint64_t kNextBoot = 12;
constexpr std::uint64_t kHour = 3'600'000;

/// A queue of a machine that has run for ten hours; record 0 failed, 1 is condemned, 2 is held, 3 is finished.
struct World : PlainWork<M> {
    World() : PlainWork<M>({.now = 10 * kHour}) {
        publish_many(5);
        begin_boot(work(), kBoot, now());
        for (HeldRecord& one : held)
            one = *worker.get();
        (void)worker.nack(held[0], 1'000);
        board->refuses.store(1, std::memory_order_release);
        (void)worker.reject(held[1]);
        (void)worker.ack(held[3]);
    }
    void boot() {
        board->now.store(60'000, std::memory_order_release);
        begin_boot(work(), kNextBoot, now());
    }
    Worker worker{*this, 0};
    std::array<HeldRecord, 4> held;
};

}  // namespace

TEST_CASE("what waits from before a boot is to be had after it, with its count, and keeps its end") {
    World world;
    world.boot();
    CHECK(late(time_of(world.word(0)), world.now()));
    CHECK(count_of(world.word(0)) == 1);
    CHECK(condemned(world.word(1)));
    CHECK(reason_of(world.word(1)) == LetterReason::rejected);
    CHECK(world.word(2) == world.held[2].word);  // its holder is dead, and is reaped as such
    CHECK(world.done(3));
    world.board->refuses.store(0, std::memory_order_release);
    Worker next(world, 1);
    REQUIRE(next.acquire(8).records == 2);
    CHECK(next.records.held[0].offset == 0);
    CHECK(count_of(next.records.held[0].word) == 2);
    CHECK(world.letters_about(1) == 1);
}

TEST_CASE("within a boot delays last as long as they should") {
    World world;
    const std::uint64_t waits = world.word(0);
    begin_boot(world.work(), kBoot, world.now());
    CHECK(world.word(0) == waits);
    world.boot();
    Worker next(world, 1);
    HeldRecord again = *next.get();
    REQUIRE(next.nack(again, 5'000).answer == Answer::done);
    const std::uint64_t delayed = world.word(0);
    begin_boot(world.work(), kNextBoot, world.now());
    CHECK(world.word(0) == delayed);
}

TEST_CASE("a record that is taken while another process begins the boot stays taken") {
    World world;
    world.board->now.store(60'000, std::memory_order_release);
    Worker next(world, 1);
    std::uint64_t taken = 0;
    const M::Scope hook(M::once_at("boot.seen", [&] {
        begin_boot(world.work(), kNextBoot, world.now());
        taken = next.get()->word;
    }));
    begin_boot(world.work(), kNextBoot, world.now());
    CHECK(world.word(0) == taken);
    CHECK(slot_of(taken) == 1);
}
