// The rows of "Consumer groups" in docs/recovery.md, by their labels: the process dies right there, and others go on.
#include <string>

#include "group_table/group_gates.hpp"
#include "partition_log/log_start.hpp"
#include "support/catch.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::group_table;
using namespace ringmain::test;

namespace {

using M = DyingMemory;
using Member = PollingMember<M>;

// One group of four partitions with 100 records each; clients A, B, C.
struct World : PlainGroups<M> {
    explicit World(const GroupOptions& options = {}) {
        group = create(kClientC, "group", options).group;
        for (std::uint32_t p = 0; p < 4; ++p) set_end(p, 100);
    }
    Member joined(std::uint64_t client, std::string_view name = {}) const {
        Member made(*this, group, client, name);
        CHECK(made.join(is_dead()) == JoinStatus::joined);
        made.poll();
        return made;
    }
    [[nodiscard]] PartitionWord word(std::uint32_t p) const { return groups.word(group.slot, p); }
    [[nodiscard]] SetWord set() const { return groups.set(group.slot); }

    /// A is proven dead: members that are, are evicted, and B must be able to have everything.
    void everything_goes_to(Member& b) {
        dead = {kClientA};
        evict_dead(groups, group.slot, is_dead());
        free_member_slots(groups, group.slot, is_dead());
        for (int round = 0; round < 2; ++round) CHECK(b.poll());
        CHECK(b.holdings() == 4);
        CHECK(set().members() == 1);
        for (std::uint32_t slot = 0; slot < 4; ++slot)
            CHECK(groups.head(group.slot, slot).held == (slot == b.membership().slot()));
    }

    GroupRef group;
};

// A dies at the named point of creating "new".
struct Creation : PlainGroups<M> {
    explicit Creation(std::string_view point) {
        CHECK(M::dies_at(point, [&] { (void)create(kClientA, "new"); }));
    }
    [[nodiscard]] std::uint32_t in_state(GroupState state) const {
        std::uint32_t count = 0;
        for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) count += groups.set(slot).state == state ? 1 : 0;
        return count;
    }
};

}  // namespace

TEST_CASE("group G1: a claim that was not decided keeps nobody from the name, and its slot comes back after proof of death") {
    Creation world("group.claimed");
    CHECK(world.create(kClientB, "new").status == FindStatus::created);
    CHECK(world.in_state(GroupState::claimed) == 1);
    CHECK(world.create(kClientB, "more").status == FindStatus::created);
    CHECK(world.create(kClientB, "still more").status == FindStatus::limit);  // A may be stopped only
    world.dead = {kClientA};
    CHECK(world.create(kClientB, "still more").status == FindStatus::created);
    CHECK(world.in_state(GroupState::open) == 3);
}

TEST_CASE("group G2: a creation that was decided and not opened is opened by the next one that comes") {
    const Creation world("group.decided");
    CHECK(world.in_state(GroupState::open) == 0);
    const Found found = world.create(kClientB, "new");
    CHECK(found.status == FindStatus::found);
    CHECK(world.groups.word(found.group.slot, 2).committed == 20);
    CHECK(world.in_state(GroupState::claimed) == 0);
}

TEST_CASE("group G3: an opened group whose directory word was not cleared is found, and the word is cleared") {
    const Creation world("group.opened");
    CHECK(DirWord::from(platform::load16(world.groups.control().dir)).pending());
    CHECK(world.create(kClientB, "new").status == FindStatus::found);
    CHECK_FALSE(DirWord::from(platform::load16(world.groups.control().dir)).pending());
    CHECK(world.create(kClientB, "next").status == FindStatus::created);
}

TEST_CASE("group G4: gates that were shown and not compared with the floor are repaired by the next join") {
    World world({.gating = true});
    world.controls[1].gate_floor.store(50, std::memory_order_release);
    CHECK(world.word(1).committed == 10);  // the creator went away before any regate
    Member a(world, world.group, kClientA);
    CHECK(M::dies_at("group.shown", [&] { (void)a.join(world.is_dead()); }));
    (void)world.joined(kClientB);
    CHECK(world.word(1).committed == 50);
    CHECK(world.word(1).gates);
    CHECK(world.word(2).committed == 20);
}

TEST_CASE("group G5: a group whose deleter died in the sweep is gone, and anybody sweeps the rest") {
    for (const char* point : {"group.closed", "group.swept"}) {
        const World world;
        CHECK(M::dies_at(point, [&] { (void)delete_group(world.groups, world.group, true); }));
        SetWord set;
        CHECK_FALSE(world.groups.set_of(world.group, set));
        CHECK(delete_group(world.groups, world.group, true) == DeleteStatus::gone);
        CHECK(sweep(world.groups, world.group.slot));
        CHECK(world.set().state == GroupState::free);
        for (std::uint32_t p = 0; p < 4; ++p) CHECK(world.word(p).committed == 0);
        CHECK_FALSE(sweep(world.groups, world.group.slot));
    }
}

TEST_CASE("group G5: a sweeper that comes late changes nothing of the slot's next group") {
    const World world;
    CHECK(M::dies_at("group.closed", [&] { (void)delete_group(world.groups, world.group, true); }));
    const PartitionWord seen = world.word(0);
    CHECK(sweep(world.groups, world.group.slot));
    CHECK(world.create(kClientB, "next").group.slot == world.group.slot);
    const PartitionWord next = world.word(0);
    PartitionWord late = seen;
    CHECK_FALSE(world.groups.change_word(world.group.slot, 0, late, {0, false, false, next_generation(seen.generation), {}}));
    CHECK(world.word(0) == next);
}

TEST_CASE("group M1: a slot that is held and not in the set is freed after proof of death, and joins correctly if it wakes") {
    World world;
    Member a(world, world.group, kClientA);
    CHECK(M::dies_at("member.held", [&] { (void)a.join(world.is_dead()); }));
    CHECK(world.set().members() == 0);
    Member b = world.joined(kClientB);
    CHECK(b.membership().slot() != a.membership().slot());
    world.everything_goes_to(b);
}

TEST_CASE("group M2: a member that died before it acquired anything is evicted and the others have all") {
    World world;
    Member b = world.joined(kClientB);
    Member a(world, world.group, kClientA);
    CHECK(M::dies_at("member.joined", [&] { (void)a.join(world.is_dead()); }));
    CHECK(world.set().members() == 2);
    b.poll();
    CHECK(b.holdings() == 2);
    world.everything_goes_to(b);
}

TEST_CASE("group M3: of a member that died between its releases the released is taken at once and the rest after its eviction") {
    World world;
    Member a = world.joined(kClientA);
    a.read(0, 5);
    Member b = world.joined(kClientB);
    CHECK(M::dies_at("partition.released", [&] { a.poll(); }));
    b.poll();
    CHECK(b.holdings() == 1);
    world.everything_goes_to(b);
}

TEST_CASE("group M4: of a member that died right after it acquired the next owner begins at the same offset") {
    World world;
    Member a(world, world.group, kClientA);
    CHECK(a.join(world.is_dead()) == JoinStatus::joined);
    CHECK(M::dies_at("partition.acquired", [&] { a.poll(); }));
    CHECK(world.word(0).owner.word != 0);
    Member b = world.joined(kClientB);
    world.everything_goes_to(b);
    CHECK(b.position(0) == 0);
    CHECK(b.position(3) == 30);
}

TEST_CASE("group M5: what a dead member handed out and did not commit the next owner hands out again, and no more") {
    World world;
    Member a = world.joined(kClientA);
    a.read(0, 5);
    CHECK(a.commit(0).status == CommitStatus::committed);
    a.read(0, 7);
    Member b = world.joined(kClientB);
    world.everything_goes_to(b);
    CHECK(b.position(0) == 5);
}

TEST_CASE("group M6: a commit over several partitions whose member died in the middle is right in each of them") {
    World world;
    Member a = world.joined(kClientA);
    std::array<CommitItem, 2> items;
    for (std::uint32_t p = 0; p < 2; ++p) {
        a.read(p, 5);
        items[p] = a.item(p, a.position(p));
    }
    CHECK(M::dies_at("commit.between", [&] { a.membership().positions().commit(items, world.floors(), 1); }));
    Member b = world.joined(kClientB);
    world.everything_goes_to(b);
    CHECK(b.position(0) == 5);
    CHECK(b.position(1) == 10);
}

TEST_CASE("group M7: a commit whose call did not return is committed") {
    World world;
    Member a = world.joined(kClientA);
    a.read(0, 5);
    CHECK(M::dies_at("commit.done", [&] { (void)a.commit(0); }));
    Member b = world.joined(kClientB);
    world.everything_goes_to(b);
    CHECK(b.position(0) == 5);
}

TEST_CASE("group M8: an acquire that slept through its eviction fails, or takes what nobody had and is gone for the rightful") {
    World world;
    Member a(world, world.group, kClientA);
    CHECK(a.join(world.is_dead()) == JoinStatus::joined);
    const PartitionWord read = world.word(0);
    CHECK(evict(world.groups, world.group.slot, world.set(), ~0ULL));
    // its exchange, late: nobody has had the partition since
    PartitionWord late = read;
    CHECK(world.groups.change_word(world.group.slot, 0, late,
                                   {read.committed, false, false, next_generation(read.generation), a.membership().positions().owner()}));
    Member b = world.joined(kClientB);
    CHECK(b.holds(0));
    CHECK(b.position(0) == read.committed);
    PartitionWord later = read;
    CHECK_FALSE(world.groups.change_word(world.group.slot, 0, later, read));
}

TEST_CASE("group M9: a member that died in leave, with its bit on or off, leaves a slot that comes back") {
    World world;
    Member b = world.joined(kClientB);
    Member a = world.joined(kClientA);
    b.poll();
    a.poll();
    CHECK(M::dies_at("leave.left", [&] { a.leave(); }));
    CHECK(world.set().members() == 1);
    b.poll();
    CHECK(b.holdings() == 4);
    world.everything_goes_to(b);
}

TEST_CASE("group E1: an evictor that died before its exchange has done nothing, one that died after it everything") {
    for (const char* point : {"evict.judged", "evict.done"}) {
        World world;
        Member a = world.joined(kClientA);
        Member b = world.joined(kClientB);
        const SetWord seen = world.set();
        const std::uint64_t bit = std::uint64_t{1} << a.membership().slot();
        CHECK(M::dies_at(point, [&] { (void)evict(world.groups, world.group.slot, seen, bit); }));
        CHECK(world.set().members() == (std::string_view(point) == "evict.done" ? 1U : 2U));
        world.everything_goes_to(b);
    }
}

TEST_CASE("group E2: at a static replacement one instance is the member before it and the other after it") {
    for (const char* point : {"member.replacing", "member.replaced"}) {
        World world;
        Member first = world.joined(kClientB, "static");
        Member second(world, world.group, kClientA, "static");
        CHECK(M::dies_at(point, [&] { (void)second.join(world.is_dead()); }));
        CHECK(world.set().members() == 1);
        const bool replaced = std::string_view(point) == "member.replaced";
        CHECK(first.look() == !replaced);
        if (!replaced) continue;
        CHECK(first.last_look() == LookStatus::fenced_instance);
        Member third = world.joined(kClientC, "static");
        third.poll();
        CHECK(third.holdings() == 4);
        CHECK(world.set().members() == 1);
    }
}

TEST_CASE("group R1: a reset whose operator died between two partitions is finished by the same plan") {
    const World world;
    Member a = world.joined(kClientA);
    const auto plan = [&](const GroupReset<M>& reset) {
        for (std::uint32_t p = 0; p < 4; ++p) reset.set(p, 60 + p, world.controls[p].gate_floor);
    };
    const GroupReset<M> reset(world.groups, world.group);
    CHECK(reset.begin(world.set(), false) == ResetStatus::has_members);
    CHECK(reset.begin(world.set(), true) == ResetStatus::begun);
    CHECK(M::dies_at("reset.between", [&] { plan(reset); }));
    CHECK(world.word(0).committed == 60);
    CHECK(world.word(1).committed == 10);
    CHECK(a.commit(0).status == CommitStatus::fenced);
    CHECK(a.commit(1).status == CommitStatus::committed);
    CHECK(reset.begin(world.set(), true) == ResetStatus::begun);
    plan(reset);
    reset.finish();
    a.read(2, 1);
    a.read(3, 1);
    for (std::uint32_t p = 0; p < 4; ++p) a.forget(p);
    a.poll();
    for (std::uint32_t p = 0; p < 4; ++p) CHECK(a.position(p) == 60 + std::uint64_t{p});
}

TEST_CASE("group R1: a plan made for another membership is refused") {
    const World world;
    const SetWord planned = world.set();
    const GroupReset<M> reset(world.groups, world.group);
    (void)world.joined(kClientA);
    CHECK(reset.begin(planned, true) == ResetStatus::changed);
    CHECK(reset.begin(planned, false) == ResetStatus::has_members);
    CHECK(delete_group(world.groups, world.group, true) == DeleteStatus::deleted);
    CHECK(reset.begin(planned, true) == ResetStatus::group_deleted);
}

TEST_CASE("group R2: a reset below the floor that was not raised is raised by the same plan") {
    const World world({.gating = true});
    world.controls[1].gate_floor.store(50, std::memory_order_release);
    const GroupReset<M> reset(world.groups, world.group);
    CHECK(reset.begin(world.set(), false) == ResetStatus::begun);
    CHECK(M::dies_at("reset.written", [&] { reset.set(1, 20, world.controls[1].gate_floor); }));
    CHECK(world.word(1).committed == 20);
    CHECK(reset.set(1, 20, world.controls[1].gate_floor).raised);
    CHECK(world.word(1).committed == 50);
}

namespace {

// A block partition of 10 records whose groups gate from offset 10 p = 0 on.
struct Gated : World {
    explicit Gated(std::uint64_t lag_records_max) : World({.gating = true, .lag_records_max = lag_records_max}), log(shape()) {
        log.log.control->log_end.store(10, std::memory_order_release);
        log.log.groups = {groups, 0, true};
    }
    static PlainShape shape() {
        PlainShape shape;
        shape.block = true;
        return shape;
    }
    PlainLog<M> log;
};

}  // namespace

TEST_CASE("group L1: of a mover that died after it let a group go the next mover goes on") {
    const Gated world(5);
    CHECK(M::dies_at("group.let_go", [&] { (void)partition_log::advance_start(world.log.log, 6); }));
    CHECK_FALSE(world.word(0).gates);
    CHECK(world.log.start() == 0);
    CHECK(partition_log::advance_start(world.log.log, 6).start == 6);
}

TEST_CASE("group L2: of a mover that died after its announcement gates begin at the floor and readers still read below") {
    const Gated world(5);
    CHECK(M::dies_at("start.announced", [&] { (void)partition_log::advance_start(world.log.log, 6); }));
    CHECK(world.log.start() == 0);
    const GroupReset<M> reset(world.groups, world.group);
    CHECK(reset.set(0, 2, world.log.log.control->gate_floor).committed == 6);
    CHECK(partition_log::advance_start(world.log.log, 8).start == 6);
}

TEST_CASE("group L3: after a reset without its last step the owner sees it by the word at its next poll") {
    const World world;
    Member a = world.joined(kClientA);
    const GroupReset<M> reset(world.groups, world.group);
    CHECK(reset.begin(world.set(), true) == ResetStatus::begun);
    reset.set(0, 60, world.controls[0].gate_floor);
    CHECK(a.read(0, 5) == 0);  // and not finish()
    a.poll();
    CHECK(a.position(0) == 60);
    CHECK(a.read(1, 5) == 5);
}
