// Deleting groups, and sweeping what is left of them.
#pragma once

#include <cstdint>

#include "group_table/groups_memory.hpp"

namespace ringmain::group_table {

/// Empties the words of a closed group and frees its slot. Anybody may, at any time, several at once, and die in it
/// (docs/recovery.md, G5). True if the slot is free of that group afterwards.
template <class M>
bool sweep(const GroupsMemory<M>& groups, std::uint32_t slot) noexcept {
    SetWord closed = groups.set(slot);
    if (closed.state != GroupState::closed) return false;
    for (std::uint32_t partition = 0; partition < groups.partitions(); ++partition) {
        for (;;) {  // again: a member's last commit came in between
            PartitionWord word = groups.word(slot, partition);
            if (groups.set(slot) != closed) return true;  // swept by others; the word may be a later group's
            if (groups.change_word(slot, partition, word, {0, false, false, next_generation(word.generation), {}})) break;
        }
        M::point("group.swept");
    }
    groups.change_set(slot, closed, closed.then(0, GroupState::free));  // lost: another sweeper was first
    return true;
}

enum class DeleteStatus : std::uint8_t {
    deleted,
    has_members,  // and it was not to be forced
    gone,         // it was deleted before
};

/// Deletes the group at one moment: it has no members, nobody can join, and it gates nothing any more. Then sweeps.
/// `force`: also if it has members; they find out at their next look.
template <class M>
[[nodiscard]] DeleteStatus delete_group(const GroupsMemory<M>& groups, GroupRef group, bool force) noexcept {
    SetWord set;
    for (;;) {
        if (!groups.set_of(group, set)) return DeleteStatus::gone;
        if (set.live != 0 && !force) return DeleteStatus::has_members;
        if (groups.change_set(group.slot, set, set.then(0, GroupState::closed))) break;
    }
    M::point("group.closed");
    sweep(groups, group.slot);
    groups.count_wake(group.slot);
    return DeleteStatus::deleted;
}

/// The topic is deleted: no group begins in this file any more, and those that there are end. Handles keep the file, so an
/// old commit cannot reach a new topic of the same name.
template <class M>
void delete_all_groups(const GroupsMemory<M>& groups) noexcept {
    groups.control().dead.store(1, std::memory_order_release);  // release TOPIC_STATE
    for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) {
        if (groups.set(slot).state == GroupState::open) (void)delete_group(groups, {slot, groups.born(slot)}, true);
    }
}

}  // namespace ringmain::group_table
