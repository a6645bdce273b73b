// The memory of a topic's groups, given to the structures, and how each of its words is read and changed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "group_table/group_words.hpp"
#include "layout/groups.hpp"

namespace ringmain::group_table {

/// Names a group for ever: a slot is used again, an epoch never.
struct GroupRef {
    std::uint32_t slot = 0;
    std::uint64_t born = 0;
    friend bool operator==(const GroupRef&, const GroupRef&) = default;
};

/// Pointers into the mapping of a `groups` file and its checked geometry. A value; copies refer to the same memory.
template <class M>
class GroupsMemory {
public:
    using Control = layout::GroupsControl<M>;
    using Group = layout::GroupSlot<M>;
    using Member = layout::MemberSlot<M>;
    using Cell = layout::GroupCell<M>;

    GroupsMemory() = default;
    /// `base`: the mapped file (or a plain array of the same layout). Requires a geometry that has been checked.
    GroupsMemory(std::byte* base, const layout::GroupsGeometry& geometry) noexcept
        : control_(reinterpret_cast<Control*>(base + layout::kGroupsControlAt)),
          groups_(reinterpret_cast<Group*>(base + layout::kGroupsAt)),
          members_(reinterpret_cast<Member*>(base + layout::group_members_at(geometry))),
          cells_(reinterpret_cast<Cell*>(base + layout::group_cells_at(geometry))),
          partitions_(geometry.partitions),
          groups_max_(geometry.groups_max),
          members_max_(geometry.members_max) {}

    [[nodiscard]] std::uint32_t partitions() const noexcept { return partitions_; }
    [[nodiscard]] std::uint32_t groups_max() const noexcept { return groups_max_; }
    [[nodiscard]] std::uint32_t members_max() const noexcept { return members_max_; }
    [[nodiscard]] Control& control() const noexcept { return *control_; }
    [[nodiscard]] Group& group(std::uint32_t slot) const noexcept { return groups_[slot]; }
    [[nodiscard]] Member& member(std::uint32_t group, std::uint32_t slot) const noexcept {
        return members_[std::size_t{group} * members_max_ + slot];
    }
    [[nodiscard]] Cell& cell(std::uint32_t group, std::uint32_t partition) const noexcept {
        return cells_[std::size_t{group} * partitions_ + partition];
    }
    /// Member slots that exist, as bits.
    [[nodiscard]] std::uint64_t members_mask() const noexcept {
        return members_max_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << members_max_) - 1;
    }

    [[nodiscard]] SetWord set(std::uint32_t slot) const noexcept {
        return SetWord::from(platform::load16(groups_[slot].set));  // acquire GROUP_SET
    }
    /// The set word of exactly this group; nothing if the group is deleted. Born is read after the set: a set of a later
    /// group in the slot comes with its own born.
    [[nodiscard]] bool set_of(GroupRef group, SetWord& set_word) const noexcept {
        set_word = set(group.slot);
        return set_word.state == GroupState::open && born(group.slot) == group.born;
    }
    [[nodiscard]] std::uint64_t born(std::uint32_t slot) const noexcept {
        return groups_[slot].born.load(std::memory_order_acquire);  // acquire GROUP_FIELD
    }
    /// Lost: somebody else changed the set, and `expected` is what it is now. An epoch is never used again: no ABA.
    bool change_set(std::uint32_t slot, SetWord& expected, SetWord desired) const noexcept {
        Halves halves = expected.halves();
        // release GROUP_SET, acquire GROUP_SET
        const bool held = M::cas16(groups_[slot].set, halves, desired.halves());
        if (!held) expected = SetWord::from(halves);
        return held;
    }

    [[nodiscard]] HeadWord head(std::uint32_t group, std::uint32_t slot) const noexcept {
        return HeadWord::from(platform::load16(member(group, slot).head));  // acquire MEMBER_HEAD
    }
    /// Whether the owner of a word is a member that is in the set. An owner that names no slot of the table is nobody. The word
    /// was read before the set, so that a live owner is never taken for a gone one.
    [[nodiscard]] bool is_owner(std::uint32_t group, SetWord set_word, Owner owner) const noexcept {
        if (owner.word == 0) return false;
        const std::uint32_t slot = owner.slot();
        return slot < members_max_ && set_word.has(slot) && owner.same_incarnation(head(group, slot).incarnation);
    }
    /// Lost: somebody else took or freed the slot. A HELD incarnation is never used again: no ABA.
    bool change_head(std::uint32_t group, std::uint32_t slot, HeadWord expected, HeadWord desired) const noexcept {
        Halves halves = expected.halves();
        return M::cas16(member(group, slot).head, halves, desired.halves());  // release MEMBER_HEAD, acquire MEMBER_HEAD
    }

    [[nodiscard]] PartitionWord word(std::uint32_t group, std::uint32_t partition) const noexcept {
        return PartitionWord::from(platform::load16(cell(group, partition).word));  // acquire GROUP_WORD
    }
    /// Lost: somebody else changed it, and `expected` is what it is now. Within a tenure committed only grows and GATES is
    /// set again only at another offset or after being looked at; tenures differ by generation: no harmful ABA.
    bool change_word(std::uint32_t group, std::uint32_t partition, PartitionWord& expected,
                     PartitionWord desired) const noexcept {
        Halves halves = expected.halves();
        // release GROUP_WORD, acquire GROUP_WORD
        const bool held = M::cas16(cell(group, partition).word, halves, desired.halves());
        if (!held) expected = PartitionWord::from(halves);
        return held;
    }

    /// The topic was deleted: no group begins any more.
    [[nodiscard]] bool dead() const noexcept {
        return control_->dead.load(std::memory_order_acquire) != 0;  // acquire TOPIC_STATE
    }

    /// Counts a wake-up for the members that wait for a partition; whoever calls it wakes the futex.
    void count_wake(std::uint32_t group) const noexcept {
        groups_[group].wake.fetch_add(1, std::memory_order_release);  // release GROUP_SET: what they wait for came before
    }

private:
    Control* control_ = nullptr;
    Group* groups_ = nullptr;
    Member* members_ = nullptr;
    Cell* cells_ = nullptr;
    std::uint32_t partitions_ = 0;
    std::uint32_t groups_max_ = 0;
    std::uint32_t members_max_ = 0;
};

}  // namespace ringmain::group_table
