// Scenarios of groups that begin and end, of members' slots, and of gates: what a group holds, nobody drops.
#include <algorithm>

#include "explore/group_stage.hpp"
#include "group_table/listing.hpp"

namespace ringmain::explore {

namespace {

using group_table::FindStatus;
using group_table::GroupRef;
using group_table::GroupState;
using group_table::Tenure;

constexpr std::string_view kOther = "h";

class LifeStage : public GroupStage {
public:
    using GroupStage::GroupStage;
    void begin() override {
        GroupStage::begin();
        tells_stories_ = false;
    }

protected:
    using Creation = group_table::GroupCreation<M>;
    static constexpr std::uint64_t kStart = 5;

    [[nodiscard]] group_table::Found find_or_create(unsigned thread,
                                                    const group_table::GroupOptions& options = {}) const {
        Creation creation(view_.groups, client_of(thread));
        return creation.find_or_create(
            kOther, options, [](std::uint32_t) { return kStart; }, IsDead{});
    }
    /// Groups of the name that are open.
    [[nodiscard]] unsigned open_groups() const {
        unsigned count = 0;
        for (std::uint32_t slot = 0; slot < shape_.groups_max; ++slot) {
            const auto& group = view_.groups.group(slot);
            const bool named = group.name_hash.load(std::memory_order_relaxed) == group_table::hash_of(kOther);
            count += view_.groups.set(slot).state == GroupState::open && named ? 1 : 0;
        }
        return count;
    }
    void check_begun(GroupRef group) const {
        const group_table::PartitionWord word = view_.groups.word(group.slot, 0);
        require(word.committed == kStart && !word.touched && word.owner.word == 0,
                "a group does not begin at its start");
    }
    /// No slot stays with a client that is proven dead.
    void check_claims_come_back() const {
        const Creation creation(view_.groups, client_of(5));
        creation.help();
        for (std::uint32_t slot = 0; slot < shape_.groups_max; ++slot) {
            (void)creation.free_dead_claim(slot, IsDead{});
            const group_table::SetWord set = view_.groups.set(slot);
            require(set.state != GroupState::claimed || !IsDead{}(set.live), "a claim of the dead stays");
        }
    }
};

// Two want the same group at once, and one may die or stop anywhere: there is one, whoever made it.
class CreateAtOnce : public LifeStage {
public:
    CreateAtOnce()
        : LifeStage({.groups_max = 3, .creates = true},
                    {.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 1}, 2) {}
    void begin() override {
        LifeStage::begin();
        found_ = {};
    }
    void thread(unsigned index) override {
        const group_table::Found found = find_or_create(index);
        require(found.status == FindStatus::found || found.status == FindStatus::created, "a group is not to be had");
        check_begun(found.group);
        found_[index] = found;
    }
    void finish() override {
        require(open_groups() <= 1, "two groups have one name");
        require(found_[0].status != FindStatus::created || found_[1].status != FindStatus::created,
                "two have created one group");
        const group_table::Found last = find_or_create(4);
        require(last.status == FindStatus::found || last.status == FindStatus::created, "a group is not to be had");
        require(open_groups() == 1, "a group is not there");
        for (const group_table::Found& found : found_)
            require(found.status == FindStatus::absent || found.group == last.group, "one name is two groups");
        check_claims_come_back();
    }

private:
    std::array<group_table::Found, 2> found_;
};

// A group is found by one who takes no part in making it: all of it is there. Who makes it may die.
class FindNew : public LifeStage {
public:
    FindNew()
        : LifeStage({.groups_max = 2, .creates = true}, {.preemptions = 2, .stale = 2, .deaths = 1, .mortal = 1}, 2) {}
    void thread(unsigned index) override {
        const group_table::GroupOptions options{
            .gating = true, .lag_records_max = 3, .lag_ms_max = 4, .start_kind = 1, .start_value = kStart};
        if (index == 0) {
            require(find_or_create(0, options).status == FindStatus::created, "a group is not to be had");
            return;
        }
        const group_table::Found found = Creation(view_.groups, client_of(1)).find(kOther);
        if (found.status != FindStatus::found)
            return;
        require(group_table::read_options(view_.groups, found.group.slot) == options, "a group is half made");
        require(group_table::name_of(view_.groups, found.group.slot) == kOther, "a group has half a name");
        check_begun(found.group);
    }
    void finish() override {
        const group_table::Found last = find_or_create(4);
        require(last.status == FindStatus::found || last.status == FindStatus::created, "a group is not to be had");
        check_begun(last.group);
        check_claims_come_back();
    }
};

// One creates a group and deletes it, where it may die, another creates it again and again, and whoever comes by
// finishes what was decided.
class CreateAndDelete : public LifeStage {
public:
    CreateAndDelete()
        : LifeStage({.groups_max = 2, .creates = true}, {.preemptions = 3, .stale = 1, .deaths = 1, .mortal = 1}, 2) {}
    void begin() override {
        LifeStage::begin();
        alive_ = {};
    }
    void thread(unsigned index) override {
        const group_table::Found found = find_or_create(index);
        // of the two slots one may be claimed and not decided yet
        require(found.status == FindStatus::found || found.status == FindStatus::created ||
                    found.status == FindStatus::limit,
                "a group is not to be had");
        alive_[index] = found;
        if (index == 0 && found.status != FindStatus::limit)
            (void)group_table::delete_group(view_.groups, found.group, false);
    }
    void finish() override {
        require(open_groups() <= 1, "two groups have one name");
        const group_table::Found last = find_or_create(4);
        require(last.status == FindStatus::found || last.status == FindStatus::created, "a slot is lost");
        check_begun(last.group);
        if (alive_[1].status == FindStatus::created && alive_[0].group != alive_[1].group)
            require(last.group == alive_[1].group, "a group is gone that nobody deleted");
        check_claims_come_back();
    }

private:
    std::array<group_table::Found, 2> alive_;
};

// A group is deleted while its owner commits; the slot is swept by two at once, and another group begins in it.
class DeleteUnderOwner : public LifeStage {
public:
    DeleteUnderOwner()
        : LifeStage({.members = 1, .owned = true, .creates = true},
                    {.preemptions = 2, .stale = 1, .deaths = 1, .mortal = 2}, 3) {}
    void begin() override {
        LifeStage::begin();
        created_ = {};
    }
    void thread(unsigned index) override {
        if (index == 0) {
            const Member me = member(0);
            const Tenure tenure = first_tenure(0);
            (void)(commit(me, tenure, 1) && commit(me, tenure, 2));
        } else if (index == 1) {
            (void)group_table::delete_group(view_.groups, group_, true);
        } else {
            created_ = find_or_create(2);
        }
    }
    void finish() override {
        if (created_.status != FindStatus::created) {
            (void)group_table::delete_group(view_.groups, group_, true);
            created_ = find_or_create(3);
        }
        require(created_.status == FindStatus::created, "the slot of a deleted group does not come back");
        require(created_.group != group_, "a group is taken for the one before it in its slot");
        check_begun(created_.group);
        require(!commit(member(0), first_tenure(0), 3), "a commit of a deleted group is counted");
        check_begun(created_.group);
    }

private:
    group_table::Found created_;
};

// A member dies or stops while it joins, in the only slot there is: two who sweep and one who wants the slot.
class SlotOfTheDead : public LifeStage {
public:
    SlotOfTheDead()
        : LifeStage({.members_max = 1}, {.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 1}, 3) {}
    void begin() override {
        LifeStage::begin();
        joined_ = {};
    }
    void thread(unsigned index) override {
        if (index == 1) {
            (void)group_table::evict_dead(view_.groups, group_.slot, IsDead{});
            (void)group_table::free_member_slots(view_.groups, group_.slot, IsDead{});
            return;
        }
        Member me = new_member(index);
        if (me.join(IsDead{}, view_.floors()) != group_table::JoinStatus::joined)
            return;
        joined_[index] = true;
        require(!joined_[2 - index] || fell(2 - index), "two members have one slot");
        require(me.look().status == group_table::LookStatus::member || fell(0), "a member is none");
    }
    void finish() override {
        check_nobody_is_waited_for();
        const group_table::HeadWord head = view_.groups.head(group_.slot, 0);
        for (const unsigned thread : {0U, 2U}) {
            const bool in = joined_[thread] && !fell(thread);
            require(!in || (set().has(0) && head.client == client_of(thread)), "a member's slot is another's");
        }
        if (!proven_dead(0) || joined_[2])
            return;
        Member last = new_member(3);
        require(last.join(IsDead{}, view_.floors()) == group_table::JoinStatus::joined, "the slot of the dead is lost");
    }

private:
    std::array<bool, 3> joined_{};
};

// Two members with static names come after each other in the only slot there is: the name is that of who is in.
class SlotOfNames : public LifeStage {
public:
    SlotOfNames() : LifeStage({.members_max = 1}, {.preemptions = 2, .stale = 6}, 2) {}
    void thread(unsigned index) override {
        const std::string_view name = index == 0 ? "a" : "b";
        Member me(view_.groups, group_, client_of(index), {name, kTimeoutMs});
        if (me.join(NoneIsDead{}, view_.floors()) != group_table::JoinStatus::joined)
            return;
        const auto& mine = view_.groups.member(group_.slot, me.slot());
        require(newest(&mine.name_hash) == group_table::hash_of(name), "a member bears the name of the one before it");
        require(me.look().status == group_table::LookStatus::member, "a member is none");
        me.leave();
    }
};

// --- gates ---

// What the group was told that it holds: log_start does not pass it.
class GateStage : public LifeStage {
public:
    using LifeStage::LifeStage;
    void begin() override {
        LifeStage::begin();
        promised_ = kNothing;
    }
    // Whoever fell, the next mover comes as far as the group lets it, and no further.
    void finish() override {
        check_promise();
        move_start(kEnd);
        check_promise();
        // a group whose maker died before it began to hold is behind the start
        require(log_start() >= held_from(), "a mover that fell is in the way");
    }

protected:
    static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
    static constexpr std::uint64_t kEnd = 8;

    void check_promise() const {
        require(log_start() <= promised_ || lets_go(), "log_start has passed what a group holds");
    }
    void promise(std::uint64_t offset) {
        promised_ = offset;
        check_promise();
    }
    /// Commits, and is promised what it commits if it gates then.
    void commit_gated(const Member& me, Tenure tenure, std::uint64_t offset) {
        check_promise();
        promised_ = kNothing;
        group_table::CommitItem item;
        item.tenure = tenure;
        item.position = item.offset = offset;
        require(me.positions().commit({&item, 1}, view_.floors(), 1), "a commit of the owner is refused");
        if (item.gates)
            promise(offset);
    }
    void move_start(std::uint64_t target) const { (void)partition_log::advance_start(log(), target); }
    /// As far as movers may come.
    [[nodiscard]] std::uint64_t held_from() const {
        const auto lowest = group_table::GroupGates<M>(view_.groups, 0, true).lowest();
        return lowest.slot ? std::min(lowest.offset, kEnd) : kEnd;
    }
    /// The group wants to be let go when it is too far behind, and was.
    [[nodiscard]] bool lets_go() const {
        return shape_.lag_records_max != 0 && (newest(&view_.groups.cell(group_.slot, 0).word.low) & 2) == 0;
    }

    std::uint64_t promised_ = kNothing;
};

// A group that was let go commits and holds again, beside two movers, one of which may die.
class GateReturns : public GateStage {
public:
    GateReturns()
        : GateStage({.members = 1, .owned = true, .gating = true},
                    {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 2}, 3) {}
    void set_up() override {
        GateStage::set_up();
        group_table::PartitionWord first = word(0);
        group_table::PartitionWord free = first;
        free.gates = false;
        (void)view_.groups.change_word(group_.slot, 0, first, free);
    }
    void thread(unsigned index) override {
        if (index != 0)
            return move_start(index + 1);
        const Member me = member(0);
        commit_gated(me, first_tenure(0), 1);
        commit_gated(me, first_tenure(0), 2);
    }
};

// A group that is too far behind is let go by a mover, which may die, and commits at the same time.
class GateLetsGo : public GateStage {
public:
    GateLetsGo()
        : GateStage({.members = 1, .owned = true, .gating = true, .lag_records_max = 4},
                    {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 2}, 3) {}
    void thread(unsigned index) override {
        if (index != 0)
            return move_start(index + 2);
        const Member me = member(0);
        commit_gated(me, first_tenure(0), 2);
        commit_gated(me, first_tenure(0), 5);
    }
};

// An operator moves a group back, beside two movers, of which one may die.
class GateReset : public GateStage {
public:
    GateReset()
        : GateStage({.members = 1, .owned = true, .gating = true},
                    {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 2}, 3) {}
    void set_up() override {
        GateStage::set_up();
        group_table::PartitionWord first = word(0);
        group_table::PartitionWord ahead = first;
        ahead.committed = 4;
        (void)view_.groups.change_word(group_.slot, 0, first, ahead);
    }
    void thread(unsigned index) override {
        if (index != 0)
            return move_start(index + 1);
        const group_table::GroupReset<M> plan(view_.groups, group_);
        promise(plan.set(0, 0, view_.controls[0].gate_floor).committed);
    }
};

// A gating group begins and is joined, beside two movers. Who makes it may die, or a mover.
class GateBegins : public GateStage {
public:
    GateBegins()
        : GateStage({.groups_max = 2, .creates = true}, {.preemptions = 2, .stale = 2, .deaths = 1, .mortal = 3}, 3) {}
    void thread(unsigned index) override {
        if (index != 0)
            return move_start(kStart + index);
        const group_table::Found found = find_or_create(0, {.gating = true});
        Member me(view_.groups, found.group, client_of(0), {{}, kTimeoutMs});
        require(me.join(NoneIsDead{}, view_.floors()) == group_table::JoinStatus::joined, "there is no slot");
        const group_table::PartitionWord mine = view_.groups.word(found.group.slot, 0);
        if (mine.gates)
            promise(mine.committed);
    }
};

const Registered create_at_once{"groups.create_at_once", [] { return std::make_unique<CreateAtOnce>(); }};
const Registered find_new{"groups.find_new", [] { return std::make_unique<FindNew>(); }};
const Registered create_delete{"groups.create_delete", [] { return std::make_unique<CreateAndDelete>(); }};
const Registered delete_owner{"groups.delete_under_owner", [] { return std::make_unique<DeleteUnderOwner>(); }};
const Registered slot_of_the_dead{"groups.slot_of_the_dead", [] { return std::make_unique<SlotOfTheDead>(); }};
const Registered slot_of_names{"groups.slot_of_names", [] { return std::make_unique<SlotOfNames>(); }};
const Registered gate_returns{"groups.gate_returns", [] { return std::make_unique<GateReturns>(); }};
const Registered gate_lets_go{"groups.gate_lets_go", [] { return std::make_unique<GateLetsGo>(); }};
const Registered gate_reset{"groups.gate_reset", [] { return std::make_unique<GateReset>(); }};
const Registered gate_begins{"groups.gate_begins", [] { return std::make_unique<GateBegins>(); }};

}  // namespace

}  // namespace ringmain::explore
