// Taking members out of a group that are gone: proven dead, or not polling for their session's time-out.
//
// The time-out is measured by the observer's own running time in slices, so that a paused machine, a suspended laptop or a
// debugger on the observer evicts nobody. A wrong verdict costs a rejoin, never a record: the evicted one is fenced by the
// words of its partitions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "group_table/groups_memory.hpp"

namespace ringmain::group_table {

/// Takes exactly these members out, if the set is still exactly this one. True if it did. The one change leaves no half
/// eviction; the members' partitions are free to take by it.
template <class M>
bool evict(const GroupsMemory<M>& groups, std::uint32_t group, SetWord seen, std::uint64_t members) noexcept {
    if (seen.state != GroupState::open || (seen.live & members) == 0) return false;
    M::point("evict.judged");
    if (!groups.change_set(group, seen, seen.then(seen.live & ~members, GroupState::open))) return false;
    M::point("evict.done");
    groups.count_wake(group);
    return true;
}

/// The members of `seen` that are proven dead and not static: they are not expected back, and nobody waits for them.
template <class M, class IsDead>
[[nodiscard]] std::uint64_t dead_members(const GroupsMemory<M>& groups, std::uint32_t group, SetWord seen,
                                         const IsDead& is_dead) noexcept {
    std::uint64_t dead = 0;
    for (std::uint32_t slot = 0; slot < groups.members_max(); ++slot) {
        if (!seen.has(slot)) continue;
        // acquire MEMBER_FIELD
        if (groups.member(group, slot).name_hash.load(std::memory_order_acquire) != 0) continue;
        const HeadWord head = groups.head(group, slot);
        if (head.held && is_dead(head.client)) dead |= std::uint64_t{1} << slot;
    }
    return dead;
}

/// Evicts the members that are proven dead. Returns how many.
template <class M, class IsDead>
std::uint32_t evict_dead(const GroupsMemory<M>& groups, std::uint32_t group, const IsDead& is_dead) noexcept {
    const SetWord seen = groups.set(group);  // before the proofs
    if (seen.state != GroupState::open) return 0;
    const std::uint64_t dead = dead_members(groups, group, seen, is_dead);
    return evict(groups, group, seen, dead) ? static_cast<std::uint32_t>(std::popcount(dead)) : 0;
}

/// Frees member slots that dead clients hold without being members. Returns how many.
template <class M, class IsDead>
std::uint32_t free_member_slots(const GroupsMemory<M>& groups, std::uint32_t group, const IsDead& is_dead) noexcept {
    std::uint32_t freed = 0;
    for (std::uint32_t slot = 0; slot < groups.members_max(); ++slot) {
        const HeadWord head = groups.head(group, slot);
        if (!abandoned(head, is_dead)) continue;
        const SetWord set = groups.set(group);
        if (set.state == GroupState::open && set.has(slot)) continue;
        if (groups.change_head(group, slot, head, {0, head.incarnation, false})) ++freed;
    }
    return freed;
}

/// One observer's view of one group: how long, of its own running time, each member has not polled. Private memory.
class Observer {
public:
    struct Verdict {
        SetWord set;                // what evict() must still find
        std::uint64_t overdue = 0;  // members, as bits
    };

    /// Looks at the members. `now_ns`: any monotonic clock of the observer's own. To be called at least every eighth of the
    /// shortest session time-out; longer pauses count as that much. A member is overdue after 1 to 1 1/8 of its time-out.
    template <class M>
    [[nodiscard]] Verdict look(const GroupsMemory<M>& groups, std::uint32_t group, std::uint64_t now_ns) noexcept {
        const std::uint64_t passed = looked_ && now_ns > last_look_ns_ ? now_ns - last_look_ns_ : 0;
        looked_ = true;
        last_look_ns_ = now_ns;
        Verdict verdict{groups.set(group), 0};
        if (verdict.set.state != GroupState::open) return verdict;
        for (std::uint32_t slot = 0; slot < groups.members_max(); ++slot) {
            if (verdict.set.has(slot) && overdue(groups, group, slot, passed)) verdict.overdue |= std::uint64_t{1} << slot;
        }
        return verdict;
    }

private:
    struct Seen {
        std::uint64_t polls = 0;
        std::uint64_t idle_ns = 0;
        std::uint32_t incarnation = 0;
    };
    static constexpr std::uint64_t kNsPerMs = 1'000'000;
    static constexpr std::uint64_t kTimeoutMsMax = std::uint64_t{1} << 40;
    static constexpr std::uint64_t kSlices = 8;

    template <class M>
    [[nodiscard]] bool overdue(const GroupsMemory<M>& groups, std::uint32_t group, std::uint32_t slot,
                               std::uint64_t passed_ns) noexcept {
        Seen& seen = seen_[slot];
        const auto& member = groups.member(group, slot);
        const std::uint64_t polls = member.polls.load(std::memory_order_relaxed);  // relaxed: only that it changes counts
        const std::uint32_t incarnation = groups.head(group, slot).incarnation;
        if (polls != seen.polls || incarnation != seen.incarnation) {
            seen = {polls, 0, incarnation};
            return false;
        }
        const std::uint64_t timeout_ms = member.session_timeout_ms.load(std::memory_order_acquire);  // acquire MEMBER_FIELD
        const std::uint64_t timeout_ns = std::min(timeout_ms, kTimeoutMsMax) * kNsPerMs;
        if (timeout_ns == 0) return false;
        seen.idle_ns += std::min(passed_ns, timeout_ns / kSlices);
        return seen.idle_ns >= timeout_ns;
    }

    std::array<Seen, layout::kMembersHardMax> seen_{};
    std::uint64_t last_look_ns_ = 0;
    bool looked_ = false;
};

}  // namespace ringmain::group_table
