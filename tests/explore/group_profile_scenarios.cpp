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

const Registered slot_changes_hands{"groups.slot_passed_on", [] { return std::make_unique<SlotChangesHands>(); }};

}  // namespace

}  // namespace ringmain::explore
