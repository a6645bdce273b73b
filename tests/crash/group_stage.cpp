// The stage, and what is done on it.
#include "crash/group_stage.hpp"

namespace ringmain::crash {

using namespace group_table;
using test::kClientA;
using test::kClientB;
using test::kClientC;

namespace {

constexpr layout::GroupsGeometry kShape{GroupStage::kPartitions, 4, 4, 0};

void join(GroupStage& stage, GroupMember& member) {
    (void)member.join(stage.is_dead());
    member.poll();
}

// The victim owns everything, has committed some of it and handed out more.
void victim_owns(GroupStage& stage) {
    join(stage, stage.victim);
    for (std::uint32_t p = 0; p < GroupStage::kPartitions; ++p) {
        stage.victim.read(p, GroupStage::kCommitted);
        (void)stage.victim.commit(p);
        stage.victim.read(p, GroupStage::kHandedOut);
    }
}

void both_own(GroupStage& stage) {
    victim_owns(stage);
    join(stage, stage.me);
    stage.victim.poll();
    stage.me.poll();
}

void commit_all(GroupStage& stage) {
    std::array<CommitItem, GroupStage::kPartitions> items;
    for (std::uint32_t p = 0; p < items.size(); ++p) items[p] = stage.victim.item(p, stage.victim.position(p));
    stage.victim.membership().positions().commit(items, stage.view.floors(), 1);
    for (std::uint32_t p = 0; p < items.size(); ++p)
        stage.report->committed[p] = items[p].status == CommitStatus::committed;
}

void let_all_go(GroupStage& stage) {
    victim_owns(stage);
    for (std::uint32_t p = 0; p < GroupStage::kPartitions; ++p) {
        const GroupGates<Host> gates(stage.view.groups, p, true);
        PartitionWord word = stage.word(p);
        gates.let_go(stage.group.slot, word);
    }
}

void pending_creation(GroupStage& stage) {
    // a creation by C that was decided and not opened
    const auto& groups = stage.view.groups;
    SetWord set = groups.set(1);
    groups.change_set(1, set, set.then(kClientC, GroupState::claimed));
    Halves none{};
    Host::cas16(groups.control().dir, none, DirWord::from(platform::load16(groups.control().dir)).then(1, 2).halves());
}

void nothing(GroupStage&) {}

}  // namespace

std::size_t GroupStage::bytes() noexcept { return test::plain_groups_bytes(kShape) + layout::kPageBytes; }

GroupStage::GroupStage(std::byte* base, std::uint64_t first_offset)
    : first(first_offset),
      view(base, kShape),
      report(reinterpret_cast<GroupReport*>(base + test::plain_groups_bytes(kShape))),
      me(view, {}, kClientB),
      victim(view, {}, kClientA) {
    for (std::uint32_t p = 0; p < kPartitions; ++p) {
        view.controls[p].log_start.store(first, std::memory_order_release);
        view.controls[p].gate_floor.store(first, std::memory_order_release);
        view.set_end(p, first + kRecords);
    }
}

Found GroupStage::create(std::uint64_t client, std::string_view name, bool gating) const {
    GroupCreation<Host> creation(view.groups, client);
    return creation.find_or_create(name, {.gating = gating}, [this](std::uint32_t) { return first; }, is_dead());
}

void GroupStage::reset_all(std::uint64_t records) const {
    const GroupReset<Host> reset(view.groups, group);
    while (reset.begin(set(), true) == ResetStatus::changed) {
    }
    for (std::uint32_t p = 0; p < kPartitions; ++p) reset.set(p, first + records, view.controls[p].gate_floor);
    reset.finish();
}

std::vector<GroupScenario> group_scenarios() {
    constexpr std::uint64_t kCommitted = GroupStage::kCommitted;
    std::vector<GroupScenario> all = {
        {"join, alone", nothing, [](GroupStage& stage) { (void)stage.victim.join(stage.is_dead()); }},
        {"join, beside another", [](GroupStage& stage) { join(stage, stage.me); },
         [](GroupStage& stage) { (void)stage.victim.join(stage.is_dead()); }},
        {"rejoin after an eviction",
         [](GroupStage& stage) {
             victim_owns(stage);
             evict(stage.view.groups, stage.group.slot, stage.set(), ~std::uint64_t{0});
         },
         [](GroupStage& stage) { (void)stage.victim.join(stage.is_dead()); }, kCommitted},
        {"join, static, in another's place",
         [](GroupStage& stage) {
             stage.victim = GroupMember(stage.view, stage.group, kClientA, "static");
             GroupMember older(stage.view, stage.group, kClientC, "static");
             join(stage, older);
             stage.dead.push_back(kClientC);
         },
         [](GroupStage& stage) { (void)stage.victim.join(stage.is_dead()); }},
        {"acquire", [](GroupStage& stage) { (void)stage.victim.join(stage.is_dead()); },
         [](GroupStage& stage) { stage.victim.poll(); }},
        {"hand over",
         [](GroupStage& stage) {
             victim_owns(stage);
             join(stage, stage.me);
         },
         [](GroupStage& stage) { stage.victim.poll(); }, kCommitted + GroupStage::kHandedOut},
        {"commit four partitions", victim_owns, commit_all, kCommitted + GroupStage::kHandedOut},
        {"commit what was let go", let_all_go, commit_all, kCommitted + GroupStage::kHandedOut},
        {"leave", both_own, [](GroupStage& stage) { stage.victim.leave(); }, kCommitted + GroupStage::kHandedOut},
        {"create a group", nothing, [](GroupStage& stage) { (void)stage.create(kClientA, "new", true); }},
        {"open another's group", pending_creation, [](GroupStage& stage) { (void)stage.create(kClientA, "new", false); }},
        {"evict", [](GroupStage& stage) {
             GroupMember gone(stage.view, stage.group, kClientC);
             join(stage, gone);
             stage.dead.push_back(kClientC);
         },
         [](GroupStage& stage) { evict_dead(stage.view.groups, stage.group.slot, stage.is_dead()); }},
        {"reset", both_own, [](GroupStage& stage) { stage.reset_all(GroupStage::kRecords / 2); }, kCommitted + GroupStage::kHandedOut, true},
        {"delete", both_own, [](GroupStage& stage) { (void)delete_group(stage.view.groups, stage.group, true); }, 0, false, true},
    };
    all[7].gating = true;
    return all;
}

}  // namespace ringmain::crash
