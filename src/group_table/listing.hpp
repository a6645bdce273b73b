// What there is, for people: groups, members, partitions. Reads only; believes nothing that it reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "group_table/group_options.hpp"
#include "group_table/groups_memory.hpp"
#include "group_table/shared_text.hpp"

namespace ringmain::group_table {

struct MemberView {
    std::uint32_t slot = 0;
    std::uint64_t client = 0;
    std::uint32_t incarnation = 0;
    bool in_set = false;  // false: holds the slot, and is no member
    std::string static_name;
    std::uint64_t polls = 0;
    std::uint64_t last_poll_ns = 0;
    std::uint64_t session_timeout_ms = 0;
};

struct PartitionView {
    PartitionWord word;
    bool owned = false;  // by a member that is in the set
    std::uint32_t owner_slot = 0;
    std::uint64_t committed_ns = 0;
    std::uint64_t owned_ns = 0;
    std::uint64_t delivered = 0;
    std::uint64_t commits = 0;
    std::uint64_t fenced = 0;
    std::uint64_t handovers = 0;
};

struct GroupView {
    GroupRef group;
    SetWord set;
    std::string name;
    GroupOptions options;
    std::vector<MemberView> members;
    std::vector<PartitionView> partitions;
};

namespace detail {

template <class M>
[[nodiscard]] MemberView view_member(const GroupsMemory<M>& groups, std::uint32_t group, std::uint32_t slot,
                                     const HeadWord& head, bool in_set) {
    const auto& member = groups.member(group, slot);
    MemberView view{slot, head.client, head.incarnation, in_set, {}, 0, 0, 0};
    // acquire MEMBER_FIELD
    view.static_name = read_text(member.name, member.name_length.load(std::memory_order_acquire));
    view.polls = member.polls.load(std::memory_order_relaxed);                // relaxed: for show
    view.last_poll_ns = member.last_poll_ns.load(std::memory_order_relaxed);  // relaxed: for show
    view.session_timeout_ms = member.session_timeout_ms.load(std::memory_order_acquire);  // acquire MEMBER_FIELD
    return view;
}

template <class M>
[[nodiscard]] PartitionView view_partition(const GroupsMemory<M>& groups, std::uint32_t group, std::uint32_t partition,
                                           SetWord set) {
    const auto& cell = groups.cell(group, partition);
    PartitionView view;
    view.word = groups.word(group, partition);
    if (view.word.owner.word != 0) {
        view.owned = groups.is_owner(group, set, view.word.owner);
        view.owner_slot = view.word.owner.slot();
    }
    // all relaxed: for show
    view.committed_ns = cell.committed_ns.load(std::memory_order_relaxed);
    view.owned_ns = cell.owned_ns.load(std::memory_order_relaxed);
    view.delivered = cell.delivered.load(std::memory_order_relaxed);
    view.commits = cell.commits.load(std::memory_order_relaxed);
    view.fenced = cell.fenced.load(std::memory_order_relaxed);
    view.handovers = cell.handovers.load(std::memory_order_relaxed);
    return view;
}

}  // namespace detail

/// The name of the group in the slot; the caller looks at the set again if it must be sure whose it is.
template <class M>
[[nodiscard]] std::string name_of(const GroupsMemory<M>& groups, std::uint32_t slot) {
    // acquire GROUP_FIELD
    return read_text(groups.group(slot).name, groups.group(slot).name_length.load(std::memory_order_acquire));
}

/// The group in the slot, as it is at this moment; nothing if there is none.
template <class M>
[[nodiscard]] std::optional<GroupView> view_group(const GroupsMemory<M>& groups, std::uint32_t slot) {
    GroupView view;
    view.set = groups.set(slot);
    if (view.set.state != GroupState::open) return std::nullopt;
    view.group = {slot, groups.born(slot)};
    view.name = name_of(groups, slot);
    view.options = read_options(groups, slot);
    for (std::uint32_t member = 0; member < groups.members_max(); ++member) {
        const HeadWord head = groups.head(slot, member);
        if (head.held) view.members.push_back(detail::view_member(groups, slot, member, head, view.set.has(member)));
    }
    for (std::uint32_t partition = 0; partition < groups.partitions(); ++partition) {
        view.partitions.push_back(detail::view_partition(groups, slot, partition, view.set));
    }
    if (SetWord now; !groups.set_of(view.group, now)) return std::nullopt;  // deleted while it was read
    return view;
}

/// All groups of the topic.
template <class M>
[[nodiscard]] std::vector<GroupView> view_groups(const GroupsMemory<M>& groups) {
    std::vector<GroupView> all;
    for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) {
        if (auto view = view_group(groups, slot)) all.push_back(std::move(*view));
    }
    return all;
}

}  // namespace ringmain::group_table
