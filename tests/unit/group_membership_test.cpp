// Members of a group: who is one, what each gets, who is taken out.
#include <string>

#include "group_table/listing.hpp"
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
    World() { group = create(kClientA, "group").group; }
    Member member(std::uint64_t client, std::string_view static_name = {}) const {
        Member made(*this, group, client, static_name);
        CHECK(made.join(is_dead()) == JoinStatus::joined);
        return made;
    }
    [[nodiscard]] SetWord set() const { return groups.set(group.slot); }
    GroupRef group;
};

void settle(std::initializer_list<Member*> members) {
    for (int round = 0; round < 3; ++round) {
        for (Member* member : members) member->poll();
    }
}

}  // namespace

TEST_CASE("a lone member gets every partition, at the start that was decided") {
    const World world;
    Member a = world.member(kClientA);
    CHECK(a.poll());
    CHECK(a.holdings() == 4);
    CHECK(a.position(3) == 30);
}

TEST_CASE("two members share, and what one gives up the other goes on with where it ended") {
    const World world;
    for (std::uint32_t p = 0; p < 4; ++p) world.set_end(p, 100);
    Member a = world.member(kClientA);
    a.poll();
    for (std::uint32_t p = 0; p < 4; ++p) CHECK(a.read(p, p + 1) == p + 1);
    Member b = world.member(kClientB);
    settle({&b, &a});
    CHECK(a.holdings() == 2);
    CHECK(b.holdings() == 2);
    for (std::uint32_t p = 0; p < 4; ++p) {
        CHECK(a.holds(p) != b.holds(p));
        CHECK((a.holds(p) ? a : b).position(p) == 11 * std::uint64_t{p} + 1);
    }
    b.leave();
    settle({&a});
    CHECK(a.holdings() == 4);
}

TEST_CASE("partitions that do not change their owner keep their generation through a rebalance") {
    const World world;
    Member a = world.member(kClientA);
    a.poll();
    std::array<Tenure, 4> before;
    for (std::uint32_t p = 0; p < 4; ++p) before[p] = a.tenure(p);
    Member b = world.member(kClientB);
    settle({&a, &b});
    for (std::uint32_t p = 0; p < 4; ++p) {
        if (a.holds(p)) CHECK(a.tenure(p).generation == before[p].generation);
    }
}

TEST_CASE("a member that is proven dead is evicted and its partitions are taken at once; a static one is waited for") {
    World world;
    Member a = world.member(kClientA);
    Member b = world.member(kClientB);
    Member c = world.member(kClientC, "worker-3");
    settle({&a, &b, &c});
    world.dead = {kClientB, kClientC};
    CHECK(evict_dead(world.groups, world.group.slot, world.is_dead()) == 1);
    CHECK(evict_dead(world.groups, world.group.slot, world.is_dead()) == 0);
    settle({&a});
    CHECK(world.set().members() == 2);
    CHECK(a.holdings() == 2);
    CHECK(free_member_slots(world.groups, world.group.slot, world.is_dead()) == 1);
}

TEST_CASE("a member that does not poll is overdue after its time-out of the observer's running time, and not before") {
    const World world;
    Member a = world.member(kClientA);
    Member b = world.member(kClientB);
    Observer observer;
    constexpr std::uint64_t kMs = 1'000'000;
    std::uint64_t now = 5'000 * kMs;
    std::uint64_t overdue = 0;
    int looks = 0;
    for (; overdue == 0 && looks < 100; ++looks, now += 100 * kMs) {
        a.membership().count_poll(0);
        const auto verdict = observer.look(world.groups, world.group.slot, now);
        overdue = verdict.overdue;
        if (overdue != 0) CHECK(evict(world.groups, world.group.slot, verdict.set, overdue));
    }
    CHECK(overdue == std::uint64_t{1} << b.membership().slot());
    CHECK(looks == 11);  // the first only sees it; then ten slices of 100 ms are 1000 ms
    CHECK_FALSE(b.poll());
    CHECK(b.last_look() == LookStatus::evicted);
    CHECK(b.join(world.is_dead()) == JoinStatus::joined);
}

TEST_CASE("an observer that was paused for an hour evicts nobody by that") {
    const World world;
    (void)world.member(kClientA);
    Observer observer;
    constexpr std::uint64_t kHour = 3'600'000'000'000;
    for (std::uint64_t look = 0; look < 8; ++look)
        CHECK(observer.look(world.groups, world.group.slot, look * kHour).overdue == 0);  // an eighth of 1 s each
    CHECK(observer.look(world.groups, world.group.slot, 9 * kHour).overdue != 0);
}

TEST_CASE("a verdict on a membership that has changed meanwhile evicts nobody") {
    const World world;
    (void)world.member(kClientA);
    const SetWord seen = world.set();
    (void)world.member(kClientB);
    CHECK_FALSE(evict(world.groups, world.group.slot, seen, 1));
    CHECK(world.set().members() == 2);
}

TEST_CASE("a static member that closes keeps its share, and gets the same back when it returns elsewhere") {
    World world;
    Member other = world.member(kClientA, "worker-1");
    Member worker = world.member(kClientB, "worker-2");
    settle({&other, &worker});
    std::array<bool, 4> before{};
    for (std::uint32_t p = 0; p < 4; ++p) before[p] = worker.holds(p);
    worker.membership().detach();
    settle({&other});
    CHECK(other.holdings() == 2);
    Member again = world.member(kClientC, "worker-2");
    settle({&other, &again});
    for (std::uint32_t p = 0; p < 4; ++p) CHECK(again.holds(p) == before[p]);
    CHECK(world.set().members() == 2);
}

TEST_CASE("a second instance of a static member fences the first, which does not come back by itself") {
    const World world;
    Member first = world.member(kClientA, "worker");
    first.poll();
    Member second = world.member(kClientB, "worker");
    CHECK(world.set().members() == 1);
    CHECK_FALSE(first.poll());
    CHECK(first.last_look() == LookStatus::fenced_instance);
    second.poll();
    CHECK(second.holdings() == 4);
}

TEST_CASE("member slots are limited, and used again after death") {
    World world;  // four members
    std::vector<Member> members;
    for (std::uint64_t i = 0; i < 4; ++i) members.push_back(world.member(kClientA + i));
    Member more(world, world.group, kClientA + 9);
    CHECK(more.join(world.is_dead()) == JoinStatus::members_full);
    world.dead = {kClientA + 2};
    CHECK(more.join(world.is_dead()) == JoinStatus::members_full);  // still a member: evicted first
    CHECK(evict_dead(world.groups, world.group.slot, world.is_dead()) == 1);
    CHECK(more.join(world.is_dead()) == JoinStatus::joined);
    CHECK(more.membership().slot() == members[2].membership().slot());
    CHECK(more.membership().incarnation() == members[2].membership().incarnation() + 1);
}

TEST_CASE("a rejoin begins a new incarnation in the same slot") {
    const World world;
    Member a = world.member(kClientA);
    const std::uint32_t slot = a.membership().slot();
    const std::uint32_t incarnation = a.membership().incarnation();
    CHECK(a.join(world.is_dead()) == JoinStatus::joined);
    CHECK(a.membership().slot() == slot);
    CHECK(a.membership().incarnation() == incarnation + 1);
    CHECK(world.set().members() == 1);
}

TEST_CASE("a look between two changes of the membership sees one of them whole") {
    const World world;
    (void)world.member(kClientA);
    Member b = world.member(kClientB, "static");
    const HookedMemory::Scope scope(HookedMemory::once_at("member.held", [&] { b.leave(); }));
    Member c = world.member(kClientC);
    const Look look = c.membership().look();
    CHECK(look.status == LookStatus::member);
    CHECK(look.count == 2);
    CHECK(look.epoch == world.set().epoch);
    CHECK_FALSE(c.membership().changed());
}

TEST_CASE("an over-long static name is refused") {
    const World world;
    const std::string name(layout::kStaticNameMax + 1, 's');
    Member member(world, world.group, kClientA, name);
    CHECK(member.join(world.is_dead()) == JoinStatus::invalid_name);
}

TEST_CASE("member slots filled with anything end every call on them") {
    const World world;
    Member a = world.member(kClientA);
    a.poll();
    for (std::uint32_t slot = 1; slot < 4; ++slot) {
        auto& member = world.groups.member(world.group.slot, slot);
        member.head.high.store(~0ULL, std::memory_order_release);
        member.name_length.store(~0ULL, std::memory_order_release);
        member.session_timeout_ms.store(~0ULL, std::memory_order_release);
    }
    world.groups.group(world.group.slot).set.low.store(~0ULL, std::memory_order_release);
    world.groups.cell(world.group.slot, 0).word.high.store(~0ULL, std::memory_order_release);
    world.groups.group(world.group.slot).name_length.store(~0ULL, std::memory_order_release);
    CHECK(a.look());
    CHECK(a.commit(0).status == CommitStatus::fenced);
    CHECK(view_group(world.groups, world.group.slot)->members.size() == 4);
    Observer observer;
    for (std::uint64_t i = 0; i < 20; ++i) (void)observer.look(world.groups, world.group.slot, i << 40);
    Member b(world, world.group, kClientB);
    CHECK(b.join(world.is_dead()) == JoinStatus::members_full);
}

TEST_CASE("a join that meets the group's deletion ends with it, also when its slot has a new group by then") {
    for (const char* point : {"member.held", "member.joined"}) {
        const World world;
        Member a(world, world.group, kClientA);
        GroupRef next;
        JoinStatus status{};
        {
            const HookedMemory::Scope scope(HookedMemory::once_at(point, [&] {
                CHECK(delete_group(world.groups, world.group, true) == DeleteStatus::deleted);
                next = world.create(kClientB, "next").group;
                CHECK(next.slot == world.group.slot);
            }));
            status = a.join(world.is_dead());
        }
        if (std::string_view(point) == "member.held") CHECK(status == JoinStatus::group_deleted);
        CHECK(world.groups.set(next.slot).live == 0);
        CHECK_FALSE(a.poll());
        a.membership().leave();
        CHECK_FALSE(world.groups.head(next.slot, 0).held);
        Member b(world, next, kClientB);
        CHECK(b.join(world.is_dead()) == JoinStatus::joined);
        CHECK(b.poll());
        CHECK(b.holdings() == 4);
    }
}
