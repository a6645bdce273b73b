// Scenarios of what members say of themselves: names that are kept over restarts, and slots that change hands.
#include "explore/group_stage.hpp"

namespace ringmain::explore {

namespace {

using group_table::JoinStatus;
using group_table::MemberProfile;

class ProfileStage : public GroupStage {
public:
    using GroupStage::GroupStage;
    void begin() override {
        GroupStage::begin();
        tells_stories_ = false;
    }

protected:
    [[nodiscard]] Member named(unsigned thread, const MemberProfile& profile) const {
        return {view_.groups, group_, client_of(thread), profile};
    }
    /// The slot says of its holder what the holder says of itself.
    void check_profile(const Member& member, const MemberProfile& profile) const {
        const auto& mine = view_.groups.member(group_.slot, member.slot());
        require(newest(&mine.name_hash) == group_table::hash_of(profile.static_name) &&
                    newest(&mine.name_length) == profile.static_name.size() &&
                    newest(&mine.session_timeout_ms) == profile.session_timeout_ms,
                "a member has another's profile");
    }
};

// A member leaves the only slot there is, and another one comes into it: what the first said is gone.
class SlotChangesHands : public ProfileStage {
public:
    SlotChangesHands() : ProfileStage({.members_max = 1}, {.preemptions = 2, .stale = 5}, 2) {}
    void thread(unsigned index) override {
        const MemberProfile profile = index == 0 ? kFirst : kSecond;
        Member me = named(index, profile);
        if (me.join(NoneIsDead{}, view_.floors()) != JoinStatus::joined)
            return;
        require(me.look().status == group_table::LookStatus::member, "a member is none");
        check_profile(me, profile);
        me.leave();
    }

private:
    static constexpr MemberProfile kFirst{"first", 5};
    static constexpr MemberProfile kSecond{"other one", 7};
};

// Two instances of one static member come at once, one of whom may die, beside a member of another name: there is one
// of each name in the end, and the instance that came first is told that it is not the last.
class NameAtOnce : public ProfileStage {
public:
    NameAtOnce() : ProfileStage({.members_max = 3}, {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1}, 3) {}
    void begin() override {
        ProfileStage::begin();
        in_ = {};
    }
    void thread(unsigned index) override {
        Member me = named(index, profile_of(index));
        require(me.join(IsDead{}, view_.floors()) == JoinStatus::joined, "there is no slot");
        in_[index] = me;
        check_status(index, me.look().status);
    }
    void finish() override {
        std::array<unsigned, 2> bearers{};
        for (std::uint32_t slot = 0; slot < shape_.members_max; ++slot) {
            const std::uint64_t hash = newest(&view_.groups.member(group_.slot, slot).name_hash);
            for (unsigned name = 0; name < bearers.size() && set().has(slot); ++name)
                bearers[name] += hash == group_table::hash_of(profile_of(name + 1).static_name) ? 1U : 0U;
        }
        require(bearers[0] == 1 && bearers[1] == 1, "a static name has two members, or none");
        for (unsigned thread = 0; thread < threads(); ++thread) {
            if (in_[thread])
                check_status(thread, in_[thread]->look().status);
        }
        check_slots();
    }

private:
    // The first two are instances of one.
    [[nodiscard]] static MemberProfile profile_of(unsigned thread) noexcept {
        return thread == 2 ? MemberProfile{"one name", 5} : MemberProfile{"two name", 5};
    }
    void check_status(unsigned thread, group_table::LookStatus status) const {
        if (status == group_table::LookStatus::member)
            return;
        require(thread != 2, "a member is thrown out by one of another name");
        require(status == group_table::LookStatus::fenced_instance, "an instance is not told that another one came");
    }

    // A static member keeps its slot until its session times out; of the others no dead one does.
    void check_slots() const {
        (void)group_table::free_member_slots(view_.groups, group_.slot, IsDead{});
        for (std::uint32_t slot = 0; slot < shape_.members_max; ++slot) {
            const group_table::HeadWord head = view_.groups.head(group_.slot, slot);
            require(set().has(slot) || !head.held || !IsDead{}(head.client), "a slot of the dead is not free");
        }
    }

    std::array<std::optional<Member>, 3> in_;
};

const Registered name_at_once{"groups.name_at_once", [] { return std::make_unique<NameAtOnce>(); }};
const Registered slot_changes_hands{"groups.slot_passed_on", [] { return std::make_unique<SlotChangesHands>(); }};

}  // namespace

}  // namespace ringmain::explore
