// Groups that gate a block topic: movers of the log start, groups that begin, are let go, return, are reset.
#include <string>

#include "group_table/creation.hpp"
#include "group_table/group_gates.hpp"
#include "group_table/membership.hpp"
#include "group_table/reset.hpp"
#include "partition_log/log_start.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::group_table;
using namespace ringmain::partition_log;
using namespace ringmain::test;

namespace {

using M = HookedMemory;

// A block partition with offsets 0 to 9, and a gating group that begins at 2.
struct GatedLog {
    explicit GatedLog(const GroupOptions& options = {.gating = true}) : plain(shape()) {
        plain.log.control->log_end.store(10, std::memory_order_release);
        plain.log.groups = {table.groups, 0, true};
        GroupCreation<M> creation(table.groups, kClientA);
        group = creation.find_or_create("group", options, [](std::uint32_t) { return std::uint64_t{2}; }, table.is_dead()).group;
    }
    [[nodiscard]] auto floors() const {
        return [this](std::uint32_t) -> const auto& { return plain.log.control->gate_floor; };
    }
    Regated show(BelowFloor below = BelowFloor::raise) const { return regate(table.groups, group.slot, 0, floors()(0), below); }
    [[nodiscard]] PartitionWord word() const { return table.groups.word(group.slot, 0); }
    std::uint64_t advance(std::uint64_t target) const { return advance_start(plain.log, target).start; }

    static PlainShape shape() {
        PlainShape shape;
        shape.block = true;
        return shape;
    }

    PlainGroups<M> table{{1, 2, 2, 0}};
    PlainLog<M> plain;
    GroupRef group;
};

// A member that owns the partition and has handed out everything.
struct Owner1 {
    explicit Owner1(const GatedLog& log) : membership(log.table.groups, log.group, kClientA, {}) {
        CHECK(membership.join(log.table.is_dead(), log.floors()) == JoinStatus::joined);
        tenure.generation = membership.positions().acquire(0, 1).generation;
    }
    CommitItem commit(const GatedLog& log, std::uint64_t offset) const {
        CommitItem item;
        item.tenure = tenure;
        item.position = 10;
        item.offset = offset;
        membership.positions().commit({&item, 1}, log.floors(), 1);
        return item;
    }
    Membership<M> membership;
    Tenure tenure;
};

}  // namespace

TEST_CASE("the log start does not pass what a gating group has not committed, and says who it is") {
    const GatedLog log;
    CHECK(log.show().gates);
    const StartMoved moved = advance_start(log.plain.log, 8);
    CHECK(moved.start == 2);
    CHECK(moved.group == log.group.slot);
    CHECK_FALSE(moved.gate);
    const Owner1 owner(log);
    CHECK(owner.commit(log, 5).gates);
    CHECK(log.advance(8) == 5);
    CHECK_FALSE(advance_start(log.plain.log, 5).group);
}

TEST_CASE("the lower of a reader's gate and a group's gate holds the log start") {
    const GatedLog log;
    gate_table::GateTable<M> gates(log.plain.log.readers);
    const auto gate = gates.claim(kClientB, "reader").value();
    gates.hold(gate, 1, log.plain.log.control->gate_floor);
    CHECK(advance_start(log.plain.log, 8).gate == gate);
    gates.move(gate, 7);
    CHECK(advance_start(log.plain.log, 8).group == log.group.slot);
    CHECK(log.plain.start() == 2);
}

TEST_CASE("a group that does not gate, is deleted, or is claimed only, holds nothing") {
    const GatedLog plain({.gating = false});
    CHECK(plain.advance(8) == 8);
    const GatedLog log;
    CHECK(delete_group(log.table.groups, log.group, false) == DeleteStatus::deleted);
    CHECK(log.advance(8) == 8);
}

TEST_CASE("a group that begins below the floor begins at the floor") {
    const GatedLog log;
    log.plain.log.control->gate_floor.store(6, std::memory_order_release);
    const Regated gate = log.show();
    CHECK(gate.gates);
    CHECK(gate.raised);
    CHECK(gate.committed == 6);
    CHECK(log.word().committed == 6);
    CHECK_FALSE(log.show().raised);
}

TEST_CASE("a group shown before the mover looks again is seen, and one shown after it is raised") {
    {
        const GatedLog log;
        std::uint64_t mover_got = 99;
        const HookedMemory::Scope scope(HookedMemory::once_at("group.shown", [&] { mover_got = log.advance(8); }));
        CHECK(log.show().committed == 2);
        CHECK(mover_got == 2);
    }
    {
        const GatedLog log;
        SetWord open = log.table.groups.set(log.group.slot);
        // the group is opened between the mover's announcement and its second look
        CHECK(log.table.groups.change_set(log.group.slot, open, open.then(0, GroupState::claimed)));
        std::uint64_t began = 0;
        const HookedMemory::Scope scope(HookedMemory::once_at("start.announced", [&] {
            SetWord claimed = log.table.groups.set(log.group.slot);
            CHECK(log.table.groups.change_set(log.group.slot, claimed, claimed.then(0, GroupState::open)));
            began = log.show().committed;
        }));
        CHECK(log.advance(8) <= 8);
        CHECK(began == 8);
        CHECK(log.plain.start() <= began);
    }
}

TEST_CASE("a group further behind than it wants to hold is let go, and told at its next commit") {
    const GatedLog log({.gating = true, .lag_records_max = 5});
    const Owner1 owner(log);
    CHECK(log.advance(6) == 6);
    CHECK_FALSE(log.word().gates);
    CHECK(log.word().committed == 2);
    CHECK_FALSE(owner.membership.positions().standing(owner.tenure).gates);
    const CommitItem below = owner.commit(log, 4);
    CHECK(below.status == CommitStatus::committed);
    CHECK(below.let_go);
    CHECK_FALSE(below.gates);  // log_start is beyond it already
    const CommitItem back = owner.commit(log, 7);
    CHECK(back.let_go);
    CHECK(back.gates);
    CHECK(log.advance(9) == 7);
    CHECK_FALSE(owner.commit(log, 8).let_go);
}

TEST_CASE("a mover lets nobody go without need, without right, or whose lag is not over its limit") {
    const GatedLog near({.gating = true, .lag_records_max = 8});
    CHECK(near.advance(6) == 2);  // a lag of exactly 8
    CHECK(near.word().gates);
    const GatedLog needless({.gating = true, .lag_records_max = 5});
    CHECK(needless.advance(2) == 2);
    CHECK(needless.word().gates);
    GatedLog rightless({.gating = true, .lag_records_max = 5});
    rightless.plain.log.groups = {rightless.table.groups, 0, false};
    CHECK(rightless.advance(6) == 2);
    CHECK(rightless.word().gates);
}

TEST_CASE("a group that commits while it is about to be let go is judged by what it committed") {
    const GatedLog log({.gating = true, .lag_records_max = 5});
    const Owner1 owner(log);
    // the mover has read committed 2, and its exchange comes after this commit
    const PartitionWord seen = log.word();
    CHECK(owner.commit(log, 6).status == CommitStatus::committed);
    PartitionWord stale = seen;
    CHECK_FALSE(log.plain.log.groups.let_go(log.group.slot, stale));
    CHECK(stale.committed == 6);
    CHECK(log.advance(9) == 6);
}

TEST_CASE("a commit that lost to being let go counts, and says so") {
    const GatedLog log;
    const Owner1 owner(log);
    PartitionWord word = log.word();
    CHECK(log.plain.log.groups.let_go(log.group.slot, word));
    log.plain.log.control->gate_floor.store(9, std::memory_order_release);
    const CommitItem item = owner.commit(log, 6);
    CHECK(item.status == CommitStatus::committed);
    CHECK(item.let_go);
    CHECK_FALSE(item.gates);
    CHECK(log.word().committed == 6);
}

TEST_CASE("a reset below the floor is raised to it and reported; above it, it gates there") {
    const GatedLog log;
    const Owner1 owner(log);
    CHECK(owner.commit(log, 8).gates);
    CHECK(log.advance(6) == 6);
    const GroupReset<M> reset(log.table.groups, log.group);
    const ResetDone raised = reset.set(0, 3, log.plain.log.control->gate_floor);
    CHECK(raised.raised);
    CHECK(raised.committed == 6);
    const ResetDone exact = reset.set(0, 7, log.plain.log.control->gate_floor);
    CHECK_FALSE(exact.raised);
    CHECK(log.advance(10) == 7);
}

TEST_CASE("a replay of a gating partition begins at the floor at the lowest") {
    const GatedLog log;
    Owner1 owner(log);
    CHECK(owner.commit(log, 8).gates);
    CHECK(log.advance(6) == 6);
    CHECK(owner.membership.positions().replay(owner.tenure, 1, log.floors()) == 6);
    CHECK(log.word().gates);
}

TEST_CASE("a floor that no log can have takes the gate off instead of being followed") {
    const GatedLog log;
    log.plain.log.control->gate_floor.store(~0ULL, std::memory_order_release);
    CHECK_FALSE(log.show().gates);
    CHECK(log.word().committed == 2);
}

TEST_CASE("a group that returns to its gate before the mover's announcement is seen by the mover's second look") {
    const GatedLog log({.gating = true, .lag_records_max = 5});
    const Owner1 owner(log);
    CommitItem back;
    const HookedMemory::Scope scope(HookedMemory::once_at("group.let_go", [&] { back = owner.commit(log, 4); }));
    const StartMoved moved = advance_start(log.plain.log, 8);
    CHECK(back.gates);
    CHECK(back.committed == 4);
    CHECK(moved.start <= 4);
    CHECK(moved.group == log.group.slot);
}
