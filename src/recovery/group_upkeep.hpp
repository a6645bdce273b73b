// What a keeper does for consumer groups: members that are gone, slots that are free again, groups too far behind in time.
//
// Nothing waits for it: members evict whom they wait for, and creators sweep what they need.
#pragma once

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
            if (state == group_table::GroupState::closed && group_table::sweep(groups_, slot)) ++done.swept_groups;
            if (state != group_table::GroupState::open) continue;
            const std::uint64_t gone = evict_gone(slot, is_dead, now_ns);
            done.evicted_members += gone;
            if (gone != 0) evicted(slot, gone);
            done.freed_member_slots += group_table::free_member_slots(groups_, slot, is_dead);
        }
        return done;
    }

    /// Changes whenever a member comes or goes.
    [[nodiscard]] std::uint64_t epochs() const noexcept {
        std::uint64_t sum = 0;
        for (std::uint32_t slot = 0; slot < groups_.groups_max(); ++slot) sum += groups_.set(slot).epoch;
        return sum;
    }
    /// Calls `visit` with the client word of each member.
    template <class Visit>
    void for_each_member(const Visit& visit) const {
        for (std::uint32_t slot = 0; slot < groups_.groups_max(); ++slot) {
            const group_table::SetWord set = groups_.set(slot);
            if (set.state != group_table::GroupState::open) continue;
            for (std::uint32_t member = 0; member < groups_.members_max(); ++member) {
                if (set.has(member)) visit(groups_.head(slot, member).client);
            }
        }
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
