// Positions of groups and marks of retention where a narrow counter, a signed comparison or a shift too far would show.
#include <cstdint>
#include <vector>

#include "group_table/bystander.hpp"
#include "group_table/lag.hpp"
#include "group_table/reset.hpp"
#include "retention/mark_ring.hpp"
#include "ringmain/topic_options.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::group_table;
using namespace ringmain::test;

namespace {

using M = HookedMemory;

constexpr std::uint64_t kOne = 1;

// A group whose partition 1 begins 5 records before a boundary and ends 5 behind it.
struct World : PlainGroups<M> {
    explicit World(std::uint64_t around, bool gating = false) : first(around - 5), end(around + 5) {
        GroupCreation<M> creation(groups, kClientA);
        GroupOptions options;
        options.gating = gating;
        group = creation
                    .find_or_create(
                        "group", options, [&](std::uint32_t) { return first; }, is_dead())
                    .group;
        for (std::uint32_t p = 0; p < groups.partitions(); ++p) {
            controls[p].log_start.store(first, std::memory_order_release);
            controls[p].gate_floor.store(first, std::memory_order_release);
            set_end(p, end);
        }
    }
    [[nodiscard]] PollingMember<M> joined(std::uint64_t client) const {
        PollingMember<M> member(*this, group, client);
        CHECK(member.join(is_dead()) == JoinStatus::joined);
        member.poll();
        return member;
    }
    [[nodiscard]] Lag lag() const { return lag_of(groups, group.slot, 1, controls[1]); }
    [[nodiscard]] PartitionWord word() const { return groups.word(group.slot, 1); }

    std::uint64_t first;
    std::uint64_t end;
    GroupRef group;
};

std::uint64_t some_boundary() { return GENERATE(kOne << 31, kOne << 32, kOne << 48, kOne << 53, kFirstOffsetMax); }

}  // namespace

TEST_CASE("commits, lag and hand-overs are exact across 2^31, 2^32, 2^48, 2^53 and 2^61") {
    const std::uint64_t around = some_boundary();
    const World world(around);
    CHECK(world.lag().records == 10);
    CHECK_FALSE(world.lag().touched);
    PollingMember<M> a = world.joined(kClientA);
    for (std::uint64_t offset = world.first + 1; offset <= world.end; ++offset) {
        CHECK(a.read(1, 1) == 1);
        CHECK(a.commit(1).status == CommitStatus::committed);
        CHECK(world.word().committed == offset);
        CHECK(world.lag().records == world.end - offset);
        CHECK(world.lag().lost == 0);
    }
    CHECK(a.commit(1, around - 1).status == CommitStatus::stale);
    CHECK(a.commit(1, world.end + 1).status == CommitStatus::beyond_position);
    CHECK(a.commit(1, world.end).status == CommitStatus::committed);
    a.leave();
    const PollingMember<M> b = world.joined(kClientB);
    CHECK(b.position(1) == world.end);
}

TEST_CASE("lost records are counted across 2^31, 2^32, 2^48, 2^53 and 2^61") {
    const std::uint64_t around = some_boundary();
    const World world(around);
    world.controls[1].log_start.store(around + 2, std::memory_order_release);
    CHECK(world.lag().lost == 7);
    CHECK(world.lag().records == 3);
}

TEST_CASE("resets, replays and bystanders go across 2^31, 2^32, 2^48, 2^53 and 2^61 both ways") {
    const std::uint64_t around = some_boundary();
    const World world(around);
    const GroupReset<M> reset(world.groups, world.group);
    for (const std::uint64_t target : {around - 1, around, around + 1, world.first, world.end}) {
        CHECK(reset.set(1, target, world.controls[1].gate_floor).committed == target);
        CHECK(world.word().committed == target);
        CHECK(world.lag().records == world.end - target);
    }
    PollingMember<M> a = world.joined(kClientA);
    Tenure tenure = a.tenure(1);
    CHECK(a.membership().positions().replay(tenure, around - 1, world.floors()) == around - 1);
    a.leave();
    CommitItem item;
    item.tenure.partition = 1;
    item.position = item.offset = around + 1;
    commit_unowned(world.groups, world.group, item, true, 1);
    CHECK(item.status == CommitStatus::committed);
    CHECK(world.word().committed == around + 1);
}

TEST_CASE("a gate goes across 2^31, 2^32, 2^48, 2^53 and 2^61, and is raised to a floor behind it") {
    const std::uint64_t around = some_boundary();
    const World world(around, true);
    CHECK(world.word().gates);
    PollingMember<M> a = world.joined(kClientA);
    a.read(1, 4);
    CHECK(a.commit(1).gates);
    const GroupGates<M> gates(world.groups, 1, true);
    CHECK(gates.lowest().offset == around - 1);
    world.controls[1].gate_floor.store(around + 1, std::memory_order_release);
    const Regated raised = regate(world.groups, world.group.slot, 1, world.controls[1].gate_floor, BelowFloor::raise);
    CHECK(raised.raised);
    CHECK(raised.committed == around + 1);
    CHECK(gates.lowest().offset == around + 1);
}

TEST_CASE("marks of retention come back across 2^31, 2^32, 2^48, 2^53 and 2^61") {
    const std::uint64_t around = some_boundary();
    constexpr std::uint64_t kBoot = 7;
    const PlainLog<M> plain;
    auto& ring = plain.log.marks->ages;
    std::vector<retention::Mark> written;
    for (std::uint64_t offset = around - 2; offset <= around + 2; ++offset) {
        written.push_back({offset, offset});
        retention::write_mark(ring, written.back(), kBoot);
    }
    CHECK(retention::read_marks(ring, around - 2, {around + 2, around + 2}, kBoot) == written);
}
