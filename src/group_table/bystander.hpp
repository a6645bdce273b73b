// Committing for a group without being a member of it: for readers that are given their partitions by hand.
//
// Only what nobody owns: an owner would otherwise be moved without a fence. The exact compare-and-swap is what makes it so.
#pragma once

#include <cstdint>

#include "group_table/groups_memory.hpp"
#include "group_table/positions.hpp"

namespace ringmain::group_table {

/// One partition, by the rules of Positions::commit but for the owner: nobody may have it. Answers in the item.
/// `apply` false: only says whether it would. The tenure's generation is not asked for: no tenure is the caller's.
template <class M>
void commit_unowned(const GroupsMemory<M>& groups, GroupRef group, CommitItem& item, bool apply, std::uint64_t now_ns) noexcept {
    const std::uint32_t partition = item.tenure.partition;
    if (partition >= groups.partitions()) {
        item.status = CommitStatus::invalid;
        return;
    }
    PartitionWord word = groups.word(group.slot, partition);
    for (;;) {  // again: another bystander, or a mover that let the group go
        item.committed = word.committed;
        item.gates = word.gates;
        item.their_generation = word.generation;
        SetWord set;
        const bool owned = word.owner == kQueueOwner || !groups.set_of(group, set) || groups.is_owner(group.slot, set, word.owner);
        item.status = owned                                                        ? CommitStatus::fenced
                      : item.offset < word.committed                              ? CommitStatus::stale
                      : item.offset > item.position || item.offset > kCommittedMax ? CommitStatus::beyond_position
                                                                                   : CommitStatus::not_applied;
        if (!apply || item.status != CommitStatus::not_applied) return;
        PartitionWord to = word;
        to.committed = item.offset;
        to.touched = true;
        to.owner = {};
        if (groups.change_word(group.slot, partition, word, to)) break;
    }
    item.status = CommitStatus::committed;
    item.committed = item.offset;
    groups.cell(group.slot, partition).committed_ns.store(now_ns, std::memory_order_relaxed);  // relaxed: for show
}

}  // namespace ringmain::group_table
