// Owning partitions and committing: every answer, and every race that has one.
#include "group_table/positions.hpp"

#include <array>

#include "group_table/lag.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_groups.hpp"

using namespace ringmain;
using namespace ringmain::group_table;
using namespace ringmain::test;

namespace {

using M = HookedMemory;
using Member = PollingMember<M>;

struct World : PlainGroups<M> {
    World() {
        group = create(kClientA, "group").group;
        for (std::uint32_t p = 0; p < 4; ++p) set_end(p, 100);
    }
    Member joined(std::uint64_t client) const {
        Member made(*this, group, client);
        CHECK(made.join(is_dead()) == JoinStatus::joined);
        made.poll();
        return made;
    }
    [[nodiscard]] PartitionWord word(std::uint32_t p) const { return groups.word(group.slot, p); }
    void evict_all() const { CHECK(evict(groups, group.slot, groups.set(group.slot), ~0ULL)); }
    GroupRef group;
};

}  // namespace

TEST_CASE("a commit moves forward, touches the word, and may repeat what is committed") {
    const World world;
    Member a = world.joined(kClientA);
    CHECK(a.read(1, 5) == 5);
    CHECK_FALSE(world.word(1).touched);
    CommitItem item = a.commit(1, 10);
    CHECK(item.status == CommitStatus::committed);
    CHECK(world.word(1) == PartitionWord{10, true, false, 2, a.membership().positions().owner()});
    CHECK(a.commit(1).status == CommitStatus::committed);
    CHECK(world.word(1).committed == 15);
}

TEST_CASE("a commit is refused below what is committed, beyond what was handed out, and for no partition") {
    const World world;
    Member a = world.joined(kClientA);
    a.read(1, 5);
    a.commit(1);
    CHECK(a.commit(1, 14).status == CommitStatus::stale);
    CHECK(a.commit(1, 16).status == CommitStatus::beyond_position);
    CommitItem none = a.item(1, 15);
    none.tenure.partition = 4;
    CHECK_FALSE(a.membership().positions().commit({&none, 1}, world.floors(), 1));
    CHECK(none.status == CommitStatus::invalid);
    CHECK(world.word(1).committed == 15);
}

TEST_CASE("one refusal and nothing of a commit over several partitions is applied") {
    const World world;
    Member a = world.joined(kClientA);
    std::array<CommitItem, 3> items;
    for (std::uint32_t p = 0; p < 3; ++p) {
        a.read(p, 2);
        items[p] = a.item(p, a.position(p));
    }
    items[2].offset = 99;
    CHECK_FALSE(a.membership().positions().commit(items, world.floors(), 1));
    CHECK(items[0].status == CommitStatus::not_applied);
    CHECK(items[1].status == CommitStatus::not_applied);
    CHECK(items[2].status == CommitStatus::beyond_position);
    CHECK_FALSE(world.word(0).touched);
    items[2].offset = items[2].position;
    CHECK(a.membership().positions().commit(items, world.floors(), 1));
    for (std::uint32_t p = 0; p < 3; ++p) CHECK(world.word(p).committed == 10 * std::uint64_t{p} + 2);
}

TEST_CASE("an evicted member's commits land until somebody takes the partition, then they are fenced") {
    const World world;
    Member a = world.joined(kClientA);
    a.read(0, 4);
    world.evict_all();
    CHECK(a.commit(0, 2).status == CommitStatus::committed);
    Member b = world.joined(kClientB);
    CHECK(b.position(0) == 2);
    const CommitItem fenced = a.commit(0);
    CHECK(fenced.status == CommitStatus::fenced);
    CHECK(fenced.tenure.generation == 2);
    CHECK(fenced.their_generation == 3);
    CHECK(world.word(0).committed == 2);
    CHECK(world.groups.cell(world.group.slot, 0).fenced.load(std::memory_order_relaxed) == 1);
}

TEST_CASE("a member fenced between the two phases of a commit learns it for exactly that partition") {
    const World world;
    Member a = world.joined(kClientA);
    std::array<CommitItem, 2> items;
    for (std::uint32_t p = 0; p < 2; ++p) {
        a.read(p, 2);
        items[p] = a.item(p, a.position(p));
    }
    const HookedMemory::Scope scope(HookedMemory::once_at("commit.between", [&] {
        (void)GroupReset<M>(world.groups, world.group).set(1, 7, world.controls[1].gate_floor);
    }));
    CHECK_FALSE(a.membership().positions().commit(items, world.floors(), 1));
    CHECK(items[0].status == CommitStatus::committed);
    CHECK(items[1].status == CommitStatus::fenced);
    CHECK(world.word(1).committed == 7);
}

TEST_CASE("a hand-over begins exactly at what was committed, also by the release itself") {
    const World world;
    Member a = world.joined(kClientA);
    a.read(2, 3);
    CHECK(a.membership().positions().release(a.tenure(2), a.position(2)) == ReleaseStatus::released);
    CHECK(world.word(2).committed == 23);
    CHECK(world.word(2).touched);
    CHECK(a.membership().positions().release(a.tenure(2), a.position(2)) == ReleaseStatus::lost);
    CHECK(a.membership().positions().release(a.tenure(3), std::nullopt) == ReleaseStatus::released);
    CHECK_FALSE(world.word(3).touched);
    CHECK(a.commit(3).status == CommitStatus::fenced);
}

TEST_CASE("a partition is not taken from a live member, nor by one that is no member") {
    const World world;
    Member a = world.joined(kClientA);
    Member b(world, world.group, kClientB);
    CHECK(b.join(world.is_dead()) == JoinStatus::joined);
    const Acquired refused = b.membership().positions().acquire(0, 1);
    CHECK(refused.status == AcquireStatus::owned);
    CHECK(refused.owner_slot == a.membership().slot());
    world.evict_all();
    CHECK(b.membership().positions().acquire(0, 1).status == AcquireStatus::evicted);
}

TEST_CASE("of two that take a partition one gets it") {
    const World world;
    (void)world.joined(kClientA);
    world.evict_all();
    Member b(world, world.group, kClientB);
    Member c(world, world.group, kClientC);
    CHECK(b.join(world.is_dead()) == JoinStatus::joined);
    CHECK(c.join(world.is_dead()) == JoinStatus::joined);
    const HookedMemory::Scope scope(HookedMemory::once_at("acquire.read", [&] {
        CHECK(c.membership().positions().acquire(0, 1).status == AcquireStatus::acquired);
    }));
    CHECK(b.membership().positions().acquire(0, 1).status == AcquireStatus::lost);
    CHECK(b.membership().positions().acquire(0, 1).status == AcquireStatus::owned);
}

TEST_CASE("an owner goes back by a replay, in a new generation") {
    const World world;
    Member a = world.joined(kClientA);
    a.read(1, 5);
    a.commit(1);
    Tenure tenure = a.tenure(1);
    const Tenure old = tenure;
    CHECK(a.membership().positions().replay(tenure, 3, world.floors()) == 3);
    CHECK(tenure.generation == old.generation + 1);
    CHECK(world.word(1).committed == 3);
    CHECK_FALSE(a.membership().positions().standing(old).held);
    CHECK(a.membership().positions().standing(tenure).held);
    Tenure gone = old;
    CHECK_FALSE(a.membership().positions().replay(gone, 3, world.floors()));
}

TEST_CASE("generations wrap past 2^32 and skip 0") {
    const World world;
    PartitionWord word = world.word(0);
    PartitionWord last = word;
    last.generation = ~std::uint32_t{0} - 1;
    CHECK(world.groups.change_word(world.group.slot, 0, word, last));
    Member a = world.joined(kClientA);
    CHECK(a.tenure(0).generation == ~std::uint32_t{0});
    a.read(0, 2);
    Member b = a;
    world.evict_all();
    CHECK(b.join(world.is_dead()) == JoinStatus::joined);
    b.poll();
    CHECK(b.tenure(0).generation == 1);
    CHECK(a.commit(0).status == CommitStatus::fenced);
    b.read(0, 1);
    CHECK(b.commit(0).status == CommitStatus::committed);
}

TEST_CASE("two clients in one member slot after a death do not share what they own") {
    World world;
    Member a = world.joined(kClientA);
    a.read(0, 3);
    world.dead = {kClientA};
    CHECK(evict_dead(world.groups, world.group.slot, world.is_dead()) == 1);
    CHECK(free_member_slots(world.groups, world.group.slot, world.is_dead()) == 1);
    Member b(world, world.group, kClientB);
    CHECK(b.join(world.is_dead()) == JoinStatus::joined);
    CHECK(b.membership().slot() == a.membership().slot());
    CHECK_FALSE(b.membership().positions().standing(a.tenure(0)).held);
    b.poll();
    CHECK(b.position(0) == 0);
    CHECK(a.commit(0).status == CommitStatus::fenced);
    CHECK_FALSE(a.membership().look().status == LookStatus::member);
}

TEST_CASE("words whose owner lies outside of the table belong to nobody") {
    const World world;
    Member a(world, world.group, kClientA);
    CHECK(a.join(world.is_dead()) == JoinStatus::joined);
    PartitionWord word = world.word(0);
    CHECK(world.groups.change_word(world.group.slot, 0, word, {kCommittedMax, true, false, 7, {0xffffffff}}));
    CHECK(a.membership().positions().acquire(0, 1).status == AcquireStatus::acquired);
    CHECK(world.word(0).committed == kCommittedMax);
    CHECK(a.membership().positions().acquire(99, 1).status == AcquireStatus::lost);
}

TEST_CASE("lag and loss are never negative") {
    const World world;
    auto& control = world.controls[1];
    control.log_start.store(4, std::memory_order_release);
    CHECK(lag_of(world.groups, world.group.slot, 1, control).records == 90);
    CHECK(lag_of(world.groups, world.group.slot, 1, control).lost == 0);
    control.log_start.store(40, std::memory_order_release);
    CHECK(lag_of(world.groups, world.group.slot, 1, control).records == 60);
    CHECK(lag_of(world.groups, world.group.slot, 1, control).lost == 30);
    PartitionWord word = world.word(1);
    CHECK(world.groups.change_word(world.group.slot, 1, word, {kCommittedMax, true, false, 7, {}}));
    CHECK(lag_of(world.groups, world.group.slot, 1, control).records == 0);
    CHECK(lag_of(world.groups, world.group.slot, 1, control).lost == 0);
}
