// Setting a group's committed offsets from outside: the operator's reset.
//
// A plan is absolute targets for all partitions. It is not atomic over partitions; whoever dies in between runs the same
// plan again. Each owner is fenced where it is reset and goes on at the target.
#pragma once

#include <cstdint>

#include "group_table/group_gates.hpp"
#include "group_table/groups_memory.hpp"

namespace ringmain::group_table {

enum class ResetStatus : std::uint8_t {
    begun,
    has_members,  // and it was not to be forced
    changed,      // the membership is not the one that the plan was made for; look again
    group_deleted,
};

/// One partition after its reset.
struct ResetDone {
    std::uint64_t committed = 0;  // where it is now: the target, or the floor if the group gates and that is higher
    bool raised = false;
    std::uint32_t generation = 0;
};

template <class M>
class GroupReset {
public:
    GroupReset(const GroupsMemory<M>& groups, GroupRef group) noexcept : groups_(groups), group_(group) {}

    /// Begins: refused if the group has members (unless forced) or is not exactly `planned` any more.
    [[nodiscard]] ResetStatus begin(SetWord planned, bool force) const noexcept {
        SetWord set;
        if (!groups_.set_of(group_, set)) return ResetStatus::group_deleted;
        if (set.live != 0 && !force) return ResetStatus::has_members;
        if (set != planned || !groups_.change_set(group_.slot, set, set.then(set.live, GroupState::open))) {
            return ResetStatus::changed;
        }
        return ResetStatus::begun;
    }

    /// One partition of the plan, after begin. Idempotent. Requires partition < partitions and target <= kCommittedMax.
    /// `before(generation)`: told before each exchange what it would make the partition's generation.
    template <class Floor, class Before>
    ResetDone set(std::uint32_t partition, std::uint64_t target, const Floor& gate_floor, const Before& before) const {
        const bool gating = wants_gates(groups_, group_.slot);
        PartitionWord word = groups_.word(group_.slot, partition);
        PartitionWord to;
        do {  // lost: a commit or a hand-over in between; the same target
            if (SetWord now; !groups_.set_of(group_, now)) return {word.committed, false, word.generation};
            to = {target, true, gating, next_generation(word.generation), {}};
            before(to.generation);
        } while (!groups_.change_word(group_.slot, partition, word, to));
        M::point("reset.written");
        const Regated gate = regate(groups_, group_.slot, partition, gate_floor, BelowFloor::raise);
        M::point("reset.between");
        return {gate.committed, gate.raised, to.generation};
    }

    template <class Floor>
    ResetDone set(std::uint32_t partition, std::uint64_t target, const Floor& gate_floor) const noexcept {
        return set(partition, target, gate_floor, [](std::uint32_t) noexcept {});
    }

    /// Tells the members, who then look. They would find out by the words of their partitions anyhow.
    void finish() const noexcept {
        SetWord set;
        while (groups_.set_of(group_, set)) {
            if (groups_.change_set(group_.slot, set, set.then(set.live, GroupState::open))) break;
        }
        groups_.count_wake(group_.slot);
    }

private:
    GroupsMemory<M> groups_;
    GroupRef group_;
};

}  // namespace ringmain::group_table
