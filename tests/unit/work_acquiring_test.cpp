// Acquiring: in which order, how far, and why not more. And the start of the window, which follows what is finished.
#include "work_table/acquiring.hpp"

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

std::vector<std::uint64_t> offsets(const Worker& worker) {
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < worker.records.count; ++i) all.push_back(worker.records.held[i].offset);
    return all;
}

using Offsets = std::vector<std::uint64_t>;

void ack_all(Worker& worker) {
    for (std::size_t i = 0; i < worker.records.count; ++i) CHECK(worker.ack(worker.records.held[i]).answer == Answer::done);
}

}  // namespace

TEST_CASE("workers share the records of a partition in offset order, none twice") {
    Work work;
    work.publish_many(7);
    Worker a(work, 0);
    Worker b(work, 1);
    CHECK(a.acquire(3).records == 3);
    CHECK(offsets(a) == Offsets{0, 1, 2});
    CHECK(b.acquire(3).records == 3);
    CHECK(offsets(b) == Offsets{3, 4, 5});
    const Acquired rest = a.acquire(3);
    CHECK(rest.records == 1);
    CHECK(rest.why == Short::empty);
    CHECK(rest.at == 7);
    CHECK(offsets(a) == Offsets{6});
    const Acquired nothing = b.acquire(3);
    CHECK((nothing.records == 0 && nothing.why == Short::empty));
    CHECK(a.records.held[0].item.id == 6);
}

TEST_CASE("what has come due again is handed out before what never was, each in offset order") {
    Work work;
    work.publish_many(8);
    Worker a(work, 0);
    REQUIRE(a.acquire(4).records == 4);
    const auto held = a.records.held;
    CHECK(a.release(held[2]).answer == Answer::done);
    CHECK(a.release(held[1]).answer == Answer::done);
    CHECK(a.acquire(4).records == 4);
    CHECK(offsets(a) == Offsets{1, 2, 4, 5});
}

TEST_CASE("more that is due than was asked for is handed out by the next calls, at once") {
    Work work;
    work.publish_many(8);
    Worker a(work, 0);
    REQUIRE(a.acquire(8).records == 8);
    const auto held = a.records.held;
    for (std::size_t i = 0; i < 6; ++i) CHECK(a.release(held[i]).answer == Answer::done);
    for (std::uint64_t first : {0, 2, 4}) {
        CHECK(a.acquire(2).records == 2);
        CHECK(offsets(a) == Offsets{first, first + 1});
    }
}

TEST_CASE("a full window says where it begins, and goes on when its first record is finished") {
    WorkShape shape;
    shape.window = 4;
    Work work(shape);
    work.publish_many(6);
    Worker a(work, 0);
    const Acquired full = a.acquire(6);
    CHECK((full.records == 4 && full.why == Short::window_full && full.at == 0));
    const auto held = a.records.held;
    CHECK(a.ack(held[1]).answer == Answer::done);
    CHECK(a.acquire(6).why == Short::window_full);
    CHECK(a.ack(held[0]).answer == Answer::done);
    CHECK(work.start() == 2);
    CHECK(a.acquire(6).records == 2);
    CHECK(offsets(a) == Offsets{4, 5});
}

TEST_CASE("a stopped holder of one record holds nobody's other records") {
    Work work;
    Worker stopped(work, 1);
    work.publish_many(1);
    REQUIRE(stopped.get());
    Worker a(work, 0);
    for (int i = 0; i < 3; ++i) {
        work.publish_many(5);
        CHECK(a.acquire(5).records == 5);
        ack_all(a);
    }
    CHECK(work.start() == 0);
    work.pass(1'100);
    REQUIRE(a.get());
    CHECK(a.records.held[0].offset == 0);
    ack_all(a);
    (void)a.acquire(1);
    CHECK(work.start() == 16);
}

TEST_CASE("an open ticket stops what is behind it, and is told") {
    Work work;
    work.publish_many(2);
    const std::uint64_t open = work.open_ticket();
    work.publish_many(2);
    Worker a(work, 0);
    const Acquired acquired = a.acquire(8);
    CHECK((acquired.records == 2 && acquired.why == Short::open_ticket && acquired.at == open));
    REQUIRE(partition_log::close_ticket(work.host_log, open) == partition_log::Decision::closed);
    CHECK(a.acquire(8).records == 2);
    CHECK(offsets(a) == Offsets{3, 4});
    CHECK(work.word(open) == done_word(open, DoneReason::skipped));
}

TEST_CASE("offsets without records are stepped over, and a window of nothing else moves on") {
    Work work;
    for (int i = 0; i < 40; ++i) {
        work.skip();
        Worker a(work, 0);
        CHECK(a.acquire(4).why == Short::empty);
    }
    CHECK(work.start() == 40);
}

TEST_CASE("no memory for the next record: what was claimed behind it is handed out by the next call") {
    Work work;
    work.publish_many(5);
    Worker a(work, 0);
    a.records.room = 2;
    const Acquired acquired = a.acquire(5);
    CHECK((acquired.records == 2 && acquired.why == Short::no_room));
    Worker b(work, 1);
    CHECK(b.acquire(5).records == 3);
    CHECK(offsets(b) == Offsets{2, 3, 4});
}

TEST_CASE("no memory for what is due again: it is handed out by the next call") {
    Work work;
    work.publish_many(3);
    Worker a(work, 0);
    REQUIRE(a.acquire(3).records == 3);
    const auto held = a.records.held;
    for (int i = 0; i < 3; ++i) CHECK(a.release(held[static_cast<std::size_t>(i)]).answer == Answer::done);
    Worker b(work, 1);
    b.records.room = 1;
    const Acquired acquired = b.acquire(3);
    CHECK((acquired.records == 1 && acquired.why == Short::no_room));
    b.records.room = 3;
    CHECK(b.acquire(3).records == 2);
    CHECK(offsets(b) == Offsets{1, 2});
}

TEST_CASE("claimed by who died: the offsets are handed out by the next sweep, uncounted") {
    PlainWork<DyingMemory> work;
    work.publish_many(4);
    {
        PlainWorker<DyingMemory> dead(work, 3);
        REQUIRE(DyingMemory::dies_at("claim.claimed", [&] { (void)dead.acquire(4); }));
    }
    PlainWorker<DyingMemory> a(work, 0);
    CHECK(a.acquire(4).records == 0);  // not before a sweep is due
    work.pass(kSweepMs);
    CHECK(a.acquire(4).records == 4);
    CHECK(count_of(a.records.held[0].word) == 1);
}

TEST_CASE("a sweep that died leaves what is due to the next, a sweep's time later") {
    PlainWork<DyingMemory> work;
    work.publish_many(4);
    PlainWorker<DyingMemory> a(work, 0);
    REQUIRE(a.acquire(4).records == 4);
    const auto held = a.records.held;
    for (std::size_t i = 0; i < 4; ++i) CHECK(a.release(held[i]).answer == Answer::done);
    PlainWorker<DyingMemory> dead(work, 3);
    REQUIRE(DyingMemory::dies_at("sweep.raised", [&] { (void)dead.acquire(4); }));
    work.pass(kSweepMs);
    CHECK(a.acquire(4).records == 4);
}

TEST_CASE("a hint that is too late is wrong for the time between two sweeps, and no longer, also where the clock wraps") {
    WorkShape shape;
    shape.now = GENERATE(std::uint64_t{1'000'000}, kClockMask - 5'000, kClockMask - 3 * kSweepMs / 2, std::uint64_t{0});
    Work work(shape);
    work.publish_many(4);
    // claimed by who died at once, and nobody has ever swept: the hint is what the file began with, or anything
    work.control().frontier.store(4, std::memory_order_release);
    const std::uint64_t hint = GENERATE(std::uint64_t{0}, std::uint64_t{1});
    work.control().next_due.store(hint == 0 ? 0 : work.now() + kFutureMs - 1, std::memory_order_release);
    Worker a(work, 0);
    std::size_t got = a.acquire(4).records;
    work.pass(kSweepMs);
    got += a.acquire(4).records;
    CHECK(got == 4);
}

TEST_CASE("the queue goes on where the clock wraps") {
    WorkShape shape;
    shape.now = kClockMask - 1'500;
    Work work(shape);
    Worker a(work, 0);
    Worker b(work, 1);
    work.publish_many(4);
    REQUIRE(a.acquire(4).records == 4);
    const auto held = a.records.held;
    CHECK(a.nack(held[0], 1'400).answer == Answer::done);
    for (int i = 0; i < 20; ++i) {
        work.pass(100);
        if (b.acquire(4).records != 0) break;
        CHECK(i < 13);
    }
    CHECK(offsets(b).front() == (work.now() - shape.now >= 1'400 ? 0 : 1));
    for (int i = 0; i < 40; ++i, work.pass(100)) {
        ack_all(b);
        (void)b.acquire(4);
    }
    CHECK(work.start() == 4);
}

TEST_CASE("the frontier is no truth: below the window it is moved up, beyond the log everything is found by sweeps") {
    Work work;
    Worker a(work, 0);
    work.publish_many(3);
    SECTION("garbage above") {
        work.control().frontier.store(~std::uint64_t{0}, std::memory_order_release);
        std::size_t got = 0;
        for (int i = 0; i < 3; ++i, work.pass(kSweepMs)) {
            got += a.acquire(3).records;
            ack_all(a);
        }
        CHECK(got == 3);
    }
    SECTION("set back") {
        REQUIRE(a.acquire(3).records == 3);
        ack_all(a);
        work.control().frontier.store(0, std::memory_order_release);
        CHECK(a.acquire(3).records == 0);
        CHECK(WorkView<M>::value(work.control().frontier) == 3);
    }
}

TEST_CASE("the start follows what is finished, wherever the last gap was closed, and never passes what is not") {
    Work work;
    work.publish_many(10);
    Worker a(work, 0);
    REQUIRE(a.acquire(10).records == 10);
    const auto held = a.records.held;
    for (const std::size_t i : {3U, 1U, 9U, 2U}) CHECK(a.ack(held[i]).answer == Answer::done);
    CHECK(work.start() == 0);
    CHECK(a.ack(held[0]).answer == Answer::done);
    CHECK(work.start() == 4);
    CHECK(a.ack(held[4]).answer == Answer::done);
    CHECK(work.start() == 5);
    CHECK(work.host_groups.word(work.group.slot, 0).touched);
    CHECK(work.host_groups.word(work.group.slot, 0).owner == group_table::kQueueOwner);
}

TEST_CASE("the start moves only from exactly what was seen: a gate that is let go meanwhile stays let go") {
    WorkShape shape;
    shape.log.block = true;
    shape.gating = true;
    Work work(shape);
    work.publish_many(2);
    Worker a(work, 0);
    REQUIRE(a.acquire(2).records == 2);
    REQUIRE(work.host_groups.word(work.group.slot, 0).gates);
    const M::Scope scope(M::once_at("advance.seen", [&] {
        group_table::PartitionWord word = work.host_groups.word(work.group.slot, 0);
        const group_table::GroupGates<platform::HostMemory> gates(work.host_groups, 0, true);
        CHECK(gates.let_go(work.group.slot, word));
    }));
    CHECK(a.ack(a.records.held[0]).answer == Answer::done);
    CHECK(work.start() == 1);
    CHECK_FALSE(work.host_groups.word(work.group.slot, 0).gates);
}

TEST_CASE("a gating queue holds producers of a block topic until its records are finished") {
    WorkShape shape;
    shape.log.block = true;
    shape.gating = true;
    Work work(shape);
    while (work.publish({}) != ~std::uint64_t{0}) {
    }
    const std::uint64_t full = work.log_end();
    Worker a(work, 0);
    REQUIRE(a.acquire(16).records == full);
    CHECK(work.publish({}) == ~std::uint64_t{0});
    ack_all(a);
    CHECK(work.publish({}) == full);
}

TEST_CASE("an overwrite topic that laps its queue: each lost record is told once, the rest is delivered") {
    Work work;
    work.publish_many(20);  // of 16
    const std::uint64_t log_start = work.host_log.control->log_start.load(std::memory_order_acquire);
    Worker a(work, 0);
    CHECK(a.acquire(20).records == 20 - log_start);
    CHECK(a.records.lost_records == log_start);
    CHECK(WorkView<M>::value(work.control().lost) == log_start);
    CHECK(a.records.held[0].offset == log_start);
    ack_all(a);
    (void)a.acquire(1);
    CHECK(work.start() == 20);
}

TEST_CASE("a log that has lost a whole window and more: the start jumps over what never had words, and counts it once") {
    Work work;
    work.publish_many(100);
    const std::uint64_t log_start = work.host_log.control->log_start.load(std::memory_order_acquire);
    Worker a(work, 0);
    Worker b(work, 1);
    std::uint64_t got = 0;
    for (int i = 0; i < 4; ++i) {
        got += a.acquire(8).records;
        ack_all(a);
        got += b.acquire(8).records;
        ack_all(b);
    }
    CHECK(got == 100 - log_start);
    CHECK(a.records.lost_records + b.records.lost_records == log_start);
    CHECK(WorkView<M>::value(work.control().lost) == log_start);
    CHECK(a.records.last_lost == LostRange{16, log_start});
    CHECK(work.start() == 100);
}

TEST_CASE("nothing is jumped over while a word of the window is not finished") {
    WorkShape shape;
    shape.window = 4;
    Work work(shape);
    work.publish_many(4);
    Worker holder(work, 1);
    REQUIRE(holder.acquire(4).records == 4);
    work.publish_many(40);
    std::uint64_t from = 0;
    CHECK(jump(work.work(), from) == 0);
    CHECK(work.start() == 0);
    // the holder is late by then: its records are gone
    Worker a(work, 0);
    work.pass(kSweepMs);
    std::uint64_t got = 0;
    for (int i = 0; i < 20; ++i) {
        got += a.acquire(4).records;
        ack_all(a);
    }
    const std::uint64_t log_start = work.host_log.control->log_start.load(std::memory_order_acquire);
    CHECK(got == 44 - log_start);
    CHECK(a.records.lost_records == log_start);
    CHECK(holder.ack(holder.records.held[0]).answer == Answer::finished);
    CHECK(work.start() == 44);
}

TEST_CASE("a worker of before a reset gets nothing any more, and moves nothing") {
    Work work;
    work.publish_many(8);
    Worker old(work, 0);
    REQUIRE(old.acquire(2).records == 2);
    const auto held = old.records.held;
    work.reset(5);
    CHECK(old.acquire(2).why == Short::fenced);
    CHECK(old.ack(held[0]).answer == Answer::fenced);
    CHECK(old.ack(held[1]).answer == Answer::fenced);
    CHECK(work.start() == 5);
    Worker fresh(work, 0);
    CHECK(fresh.acquire(8).records == 3);
    CHECK(offsets(fresh) == Offsets{5, 6, 7});
    ack_all(fresh);
    CHECK(work.start() == 8);
    // and backwards
    work.reset(0);
    Worker again(work, 1);
    CHECK(again.acquire(16).records == 8);
    CHECK(fresh.acquire(1).why == Short::fenced);
}

TEST_CASE("a group that was deleted fences its workers") {
    Work work;
    work.publish_many(2);
    Worker a(work, 0);
    REQUIRE(a.acquire(1).records == 1);
    CHECK(group_table::delete_group(work.host_groups, work.group, true) == group_table::DeleteStatus::deleted);
    group_table::sweep(work.host_groups, work.group.slot);
    group_table::GroupCreation<platform::HostMemory> creation(work.host_groups, kClientA);
    for (const char* name : {"other", "another"}) {
        (void)creation.find_or_create(name, {.kind = group_table::GroupKind::queue}, [](std::uint32_t) { return std::uint64_t{0}; },
                                      [](std::uint64_t) { return false; });
    }
    CHECK(a.acquire(1).why == Short::fenced);
    CHECK(a.ack(a.records.held[0]).answer == Answer::fenced);
}

TEST_CASE("queues of far offsets work as those of near ones") {
    const std::uint64_t first = GENERATE(std::uint64_t{0}, (std::uint64_t{1} << 32) - 5, (std::uint64_t{1} << 48) - 7,
                                         (std::uint64_t{1} << 60) - 9, (std::uint64_t{1} << 61) - 3);
    WorkShape shape{.log = {.records = 16, .first_offset = first}};
    shape.window = GENERATE(std::uint64_t{4}, std::uint64_t{16});
    Work work(shape);
    Worker a(work, 0);
    Worker b(work, 1);
    std::uint64_t next = first;
    for (int i = 0; i < 20; ++i) {
        work.publish_many(3);
        REQUIRE(a.acquire(2).records == 2);
        REQUIRE(b.acquire(2).records == 1);
        CHECK(a.records.held[0].offset == next);
        CHECK(b.records.held[0].offset == next + 2);
        CHECK(b.nack(b.records.held[0], 0).answer == Answer::done);
        ack_all(a);
        REQUIRE(b.acquire(2).records == 1);
        CHECK(b.records.held[0].item.id == next + 2);
        ack_all(b);
        next += 3;
    }
    CHECK(work.start() == next);
    // and what is lost there
    work.publish_many(50);
    for (int i = 0; i < 8; ++i) {
        (void)a.acquire(16);
        ack_all(a);
    }
    CHECK(work.start() == work.log_end());
    const std::uint64_t log_start = work.host_log.control->log_start.load(std::memory_order_acquire);
    CHECK(WorkView<M>::value(work.control().lost) == log_start - next);
}
