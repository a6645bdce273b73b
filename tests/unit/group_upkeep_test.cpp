// What a keeper does for groups.
#include "recovery/group_upkeep.hpp"

#include "partition_log/publisher.hpp"
#include "support/catch.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::group_table;
using namespace ringmain::test;

TEST_CASE("a keeper evicts the dead and the overdue, frees their slots and sweeps what was deleted") {
    PlainGroups<> plain;
    const GroupRef group = plain.create(kClientA, "group").group;
    const GroupRef other = plain.create(kClientA, "other").group;
    PollingMember<platform::HostMemory> a(plain, group, kClientA);
    PollingMember<platform::HostMemory> b(plain, group, kClientB);
    CHECK(a.join(plain.is_dead()) == JoinStatus::joined);
    CHECK(b.join(plain.is_dead()) == JoinStatus::joined);
    SetWord closing = plain.groups.set(other.slot);
    CHECK(plain.groups.change_set(other.slot, closing, closing.then(0, GroupState::closed)));
    recovery::GroupKeeper<platform::HostMemory> keeper(plain.groups);
    plain.dead = {kClientA};
    recovery::GroupUpkeep done = keeper.step(plain.is_dead(), 0);
    CHECK(done.evicted_members == 1);
    CHECK(done.freed_member_slots == 1);
    CHECK(done.swept_groups == 1);
    CHECK(plain.groups.set(other.slot).state == GroupState::free);
    std::uint64_t evicted = 0;
    for (std::uint64_t i = 1; i < 20; ++i) evicted += keeper.step(plain.is_dead(), i * 1'000'000'000).evicted_members;
    CHECK(evicted == 1);
    CHECK(plain.groups.set(group.slot).members() == 0);
    CHECK(plain.groups.head(group.slot, b.membership().slot()).held);  // it is alive, and may come back
}

TEST_CASE("a group whose next record is too old is let go, and only then") {
    PlainGroups<> plain({1, 2, 2, 0});
    PlainShape shape;
    shape.block = true;
    PlainLog<> log(shape);
    log.log.groups = {plain.groups, 0, true};
    log.occupy(0, kClientB);
    partition_log::SharedPublisher<platform::HostMemory> publisher(log.log, 0, 1);
    constexpr std::uint64_t kMs = 1'000'000;
    CHECK(publisher.publish(parts_of("x", 1000 * kMs)).status == Status::ok);
    const GroupRef group = plain.create(kClientA, "group", {.gating = true, .lag_ms_max = 50}).group;
    CHECK(recovery::let_go_by_age(log.log, 900 * kMs) == 0);
    CHECK(recovery::let_go_by_age(log.log, 1050 * kMs) == 0);
    CHECK(recovery::let_go_by_age(log.log, 1051 * kMs) == 1);
    CHECK_FALSE(plain.groups.word(group.slot, 0).gates);
    CHECK(recovery::let_go_by_age(log.log, 9000 * kMs) == 0);
}
