// What a keeper does for consumer groups: members that are gone, slots that are free again, groups too far behind in time.
//
// Nothing waits for it: members evict whom they wait for, and creators sweep what they need.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "group_table/eviction.hpp"
#include "group_table/group_gates.hpp"
#include "group_table/sweeping.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/reader.hpp"

namespace ringmain::recovery {

struct GroupUpkeep {
    std::uint64_t evicted_members = 0;
    std::uint64_t freed_member_slots = 0;
    std::uint64_t swept_groups = 0;
    std::uint64_t groups = 0;               ///< Slots that are in use, whatever for.
    std::uint64_t shortest_timeout_ns = 0;  ///< Of the sessions of all members; 0: there are none.
    bool age_limited = false;               ///< Some group is to be let go when its next record is too old.
};

/// For callers that need no more than the numbers.
struct IgnoreGroup {
    void operator()(std::uint32_t /*slot*/, std::uint64_t /*what*/) const noexcept {}
};

/// The keeper's view of all groups of a topic. Private memory; one thread at a time.
template <class M>
class GroupKeeper {
public:
    explicit GroupKeeper(const group_table::GroupsMemory<M>& groups) noexcept : groups_(groups) {}

    /// One pass. `now_ns`: a monotonic clock. To be called at least every eighth of the shortest session time-out that is to
    /// be kept; a keeper that comes less often evicts later. `evicted(slot, count)` is called for each group that lost members.
    template <class IsDead, class Evicted = IgnoreGroup>
    GroupUpkeep step(const IsDead& is_dead, std::uint64_t now_ns, const Evicted& evicted = {}) noexcept {
        GroupUpkeep done;
        for (std::uint32_t slot = 0; slot < groups_.groups_max(); ++slot) {
            const group_table::GroupState state = groups_.set(slot).state;
            if (state == group_table::GroupState::free) continue;
            ++done.groups;
            if (state == group_table::GroupState::closed && group_table::sweep(groups_, slot)) ++done.swept_groups;
            if (state != group_table::GroupState::open) continue;
            const std::uint64_t gone = evict_gone(slot, is_dead, now_ns);
            done.evicted_members += gone;
            if (gone != 0) evicted(slot, gone);
            done.freed_member_slots += group_table::free_member_slots(groups_, slot, is_dead);
            note_limits(slot, done);
        }
        return done;
    }

private:
    template <class IsDead>
    std::uint64_t evict_gone(std::uint32_t slot, const IsDead& is_dead, std::uint64_t now_ns) noexcept {
        std::uint64_t gone = group_table::evict_dead(groups_, slot, is_dead);
        const auto verdict = observers_[slot].look(groups_, slot, now_ns);
        if (group_table::evict(groups_, slot, verdict.set, verdict.overdue)) {
            gone += static_cast<std::uint64_t>(std::popcount(verdict.overdue));
        }
        return gone;
    }

    void note_limits(std::uint32_t slot, GroupUpkeep& done) const noexcept {
        constexpr std::uint64_t kNsPerMs = 1'000'000;
        constexpr std::uint64_t kTimeoutMsMax = std::uint64_t{1} << 40;  // what is there is input
        // acquire GROUP_FIELD
        done.age_limited |= groups_.group(slot).lag_ms.load(std::memory_order_acquire) != 0;
        const group_table::SetWord set = groups_.set(slot);
        for (std::uint32_t member = 0; member < groups_.members_max(); ++member) {
            if (!set.has(member)) continue;
            // acquire MEMBER_FIELD
            const std::uint64_t timeout_ms = groups_.member(slot, member).session_timeout_ms.load(std::memory_order_acquire);
            const std::uint64_t timeout_ns = std::min(timeout_ms, kTimeoutMsMax) * kNsPerMs;
            if (timeout_ns == 0) continue;
            if (done.shortest_timeout_ns == 0 || timeout_ns < done.shortest_timeout_ns) done.shortest_timeout_ns = timeout_ns;
        }
    }

    group_table::GroupsMemory<M> groups_;
    std::array<group_table::Observer, layout::kGroupsHardMax> observers_;
};

/// Lets groups go whose next record in this partition is older than they want to hold. `realtime_ns`: since the Unix epoch,
/// as the records' timestamps. Returns how many; `told(slot, offset)` is called for each, with the offset of that record.
template <class M, class Told = IgnoreGroup>
std::uint64_t let_go_by_age(const partition_log::LogMemory<M>& log, std::uint64_t realtime_ns, const Told& told = {}) noexcept {
    constexpr std::uint64_t kNsPerMs = 1'000'000;
    if (!log.groups.writable()) return 0;
    const partition_log::Reader<M> reader(log);
    std::uint64_t let_go = 0;
    for (std::uint32_t slot = 0; slot < log.groups.groups().groups_max(); ++slot) {
        auto word = log.groups.gating(slot);
        // acquire GROUP_FIELD
        const std::uint64_t age_ms_max = log.groups.groups().group(slot).lag_ms.load(std::memory_order_acquire);
        if (!word || age_ms_max == 0 || word->committed >= reader.log_end()) continue;
        partition_log::RecordView next;
        // a ticket that holds no record is stepped over by whoever commits; until then its age is not known
        if (reader.look(word->committed, next) != partition_log::Found::record) continue;
        const auto written_ns = static_cast<std::uint64_t>(next.timestamp_ns);
        const std::uint64_t age_ms = realtime_ns > written_ns ? (realtime_ns - written_ns) / kNsPerMs : 0;
        if (age_ms <= age_ms_max || !log.groups.let_go(slot, *word)) continue;
        ++let_go;
        told(slot, word->committed);
    }
    return let_go;
}

}  // namespace ringmain::recovery
