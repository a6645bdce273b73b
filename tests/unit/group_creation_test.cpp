// Groups by name: found, created once whoever comes at the same time, limited, deleted, used again.
#include <string>

#include "group_table/listing.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_groups.hpp"

using namespace ringmain;
using namespace ringmain::group_table;
using namespace ringmain::test;

namespace {

using Plain = PlainGroups<HookedMemory>;

}  // namespace

TEST_CASE("a group is created once, and found again with its options and start") {
    const Plain plain;
    const GroupOptions options{true, 100, 2000, GroupKind::stream, 1, 3, 77};
    const Found created = plain.create(kClientA, "orders", options);
    CHECK(created.status == FindStatus::created);
    const Found found = plain.create(kClientB, "orders", {});
    CHECK(found.status == FindStatus::found);
    CHECK(found.group == created.group);
    const auto view = view_group(plain.groups, created.group.slot);
    REQUIRE(view);
    CHECK(view->name == "orders");
    CHECK(view->options == options);
    CHECK(view->partitions[3].word == PartitionWord{30, false, true, 1, {}});
    CHECK(view_groups(plain.groups).size() == 1);
}

TEST_CASE("names are told apart, and names that cannot be are refused") {
    const Plain plain;
    GroupCreation<HookedMemory> creation(plain.groups, kClientA);
    CHECK(creation.find("").status == FindStatus::invalid_name);
    CHECK(plain.create(kClientA, std::string(layout::kGroupNameMax + 1, 'n')).status == FindStatus::invalid_name);
    const std::string longest(layout::kGroupNameMax, 'n');
    const Found created = plain.create(kClientA, longest);
    CHECK(created.status == FindStatus::created);
    CHECK(creation.find(longest).group == created.group);
    CHECK(creation.find(longest.substr(1)).status == FindStatus::absent);
    CHECK(view_group(plain.groups, created.group.slot)->name == longest);
}

TEST_CASE("when every slot is taken the next group is refused until one is deleted") {
    const Plain plain;  // three groups
    const Found first = plain.create(kClientA, "a");
    CHECK(plain.create(kClientA, "b").status == FindStatus::created);
    CHECK(plain.create(kClientA, "c").status == FindStatus::created);
    CHECK(plain.create(kClientA, "d").status == FindStatus::limit);
    CHECK(plain.create(kClientA, "b").status == FindStatus::found);
    CHECK(delete_group(plain.groups, first.group, false) == DeleteStatus::deleted);
    plain.groups.cell(first.group.slot, 1).commits.store(7, std::memory_order_relaxed);
    const Found again = plain.create(kClientA, "d");
    CHECK(again.status == FindStatus::created);
    CHECK(view_group(plain.groups, again.group.slot)->partitions[1].commits == 0);
    CHECK(again.group.slot == first.group.slot);
    CHECK(again.group.born > first.group.born);
    CHECK(delete_group(plain.groups, first.group, true) == DeleteStatus::gone);
}

TEST_CASE("of two that create one name at the same time both get the same group") {
    const Plain plain;
    for (const char* point : {"group.claimed", "group.decided", "group.opened"}) {
        const std::string name = std::string("at ") + point;
        Found other;
        const HookedMemory::Scope scope(HookedMemory::once_at(point, [&] { other = plain.create(kClientB, name); }));
        const Found mine = plain.create(kClientA, name);
        CHECK(mine.group == other.group);
        CHECK((mine.status == FindStatus::created) + (other.status == FindStatus::created) <= 1);
        CHECK(delete_group(plain.groups, mine.group, false) == DeleteStatus::deleted);
    }
    for (std::uint32_t slot = 0; slot < plain.groups.groups_max(); ++slot)
        CHECK(plain.groups.set(slot).state == GroupState::free);  // no claim is left
}

TEST_CASE("a group created, deleted and its slot claimed again while its creator slept is not opened half filled") {
    const Plain plain;
    // A decides and sleeps before it opens; B opens A's, deletes it, and C claims the slot anew and sleeps there
    const HookedMemory::Scope scope(HookedMemory::once_at("group.decided", [&] {
        const Found theirs = plain.create(kClientB, "one");
        CHECK(theirs.status == FindStatus::found);
        CHECK(delete_group(plain.groups, theirs.group, false) == DeleteStatus::deleted);
        SetWord set = plain.groups.set(theirs.group.slot);
        CHECK(plain.groups.change_set(theirs.group.slot, set, set.then(kClientC, GroupState::claimed)));
    }));
    const Found mine = plain.create(kClientA, "one");
    CHECK(mine.status == FindStatus::created);
    std::uint32_t open = 0;
    std::uint32_t claimed = 0;
    for (std::uint32_t slot = 0; slot < plain.groups.groups_max(); ++slot) {
        open += plain.groups.set(slot).state == GroupState::open ? 1 : 0;
        claimed += plain.groups.set(slot).state == GroupState::claimed ? 1 : 0;
    }
    CHECK(open == 1);
    CHECK(claimed == 1);  // C's
}

TEST_CASE("in a deleted topic no group is found or created, and those that were there are gone") {
    const Plain plain;
    const Found group = plain.create(kClientA, "a");
    delete_all_groups(plain.groups);
    CHECK(plain.create(kClientA, "a").status == FindStatus::topic_deleted);
    CHECK(GroupCreation<HookedMemory>(plain.groups, kClientA).find("a").status == FindStatus::topic_deleted);
    SetWord set;
    CHECK_FALSE(plain.groups.set_of(group.group, set));
    PollingMember<HookedMemory> member(plain, group.group, kClientA);
    CHECK(member.join(plain.is_dead()) == JoinStatus::group_deleted);
}

TEST_CASE("a group with members is deleted only by force, and its words begin new generations") {
    const Plain plain;
    const Found group = plain.create(kClientA, "a");
    PollingMember<HookedMemory> member(plain, group.group, kClientA);
    CHECK(member.join(plain.is_dead()) == JoinStatus::joined);
    CHECK(member.poll());
    CHECK(delete_group(plain.groups, group.group, false) == DeleteStatus::has_members);
    const std::uint32_t generation = plain.groups.word(group.group.slot, 0).generation;
    CHECK(delete_group(plain.groups, group.group, true) == DeleteStatus::deleted);
    CHECK(plain.groups.word(group.group.slot, 0).generation == generation + 1);
    CHECK(member.commit(0).status == CommitStatus::fenced);
    CHECK_FALSE(member.poll());
    CHECK(member.last_look() == LookStatus::group_deleted);
}

TEST_CASE("a directory word that names no slot is cleared and harms nothing") {
    const Plain plain;
    plain.groups.control().dir.high.store(0xffff, std::memory_order_release);
    CHECK(plain.create(kClientA, "a").status == FindStatus::created);
}
