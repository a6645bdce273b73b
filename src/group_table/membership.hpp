// Being a member of a group: join, look, leave.
//
//   slot FREE --head {me, incarnation + 1, HELD}--> HELD --own bit in the set word--> member --bit cleared--> HELD --> FREE
//
// Who is a member is one word for all. Whoever reads it knows the whole membership of one epoch, so that all members
// compute the same assignment from it and none has to be told.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "group_table/group_gates.hpp"
#include "group_table/groups_memory.hpp"
#include "group_table/positions.hpp"
#include "group_table/shared_text.hpp"

namespace ringmain::group_table {

/// How a member introduces itself.
struct MemberProfile {
    std::string_view static_name;  ///< Empty: none. Else at most kStaticNameMax bytes; keeps the member's share over restarts.
    std::uint64_t session_timeout_ms = 45'000;
};

enum class JoinStatus : std::uint8_t {
    joined,
    group_deleted,
    members_full,  // every member slot belongs to a member or to a live client
    invalid_name,  // of the static member
};

enum class LookStatus : std::uint8_t {
    member,
    evicted,          // rejoin: join again
    fenced_instance,  // another instance bears the static name; no rejoin by itself
    group_deleted,
};

/// A member as the assignment sees it.
struct MemberKey {
    std::uint64_t key = 0;  // the static name's hash, else of slot and incarnation
    std::uint32_t slot = 0;
};

/// What a look at the set found. `epoch` is the one that members and status belong to.
struct Look {
    LookStatus status = LookStatus::group_deleted;
    std::uint64_t epoch = 0;
    std::uint32_t count = 0;
    std::array<MemberKey, layout::kMembersHardMax> members;
};

/// Mixes what may be similar into what looks random (splitmix64's finalizer).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// One member of one group, in one process. One thread at a time. `client`: the process's client word.
template <class M>
class Membership {
public:
    /// `profile.static_name` must outlive the object.
    Membership(const GroupsMemory<M>& groups, GroupRef group, std::uint64_t client, const MemberProfile& profile) noexcept
        : groups_(groups), group_(group), client_(client), profile_(profile) {}

    [[nodiscard]] GroupRef group() const noexcept { return group_; }
    /// The own slot and incarnation, after the first join.
    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_.value_or(0); }
    [[nodiscard]] std::uint32_t incarnation() const noexcept { return incarnation_; }
    [[nodiscard]] Positions<M> positions() const noexcept { return {groups_, group_, slot(), incarnation_}; }

    /// Becomes a member, or a member again after it was evicted: a new incarnation each time. An older instance with the
    /// same static name is none any more by the same exchange. `is_dead(client word)`: proven dead, to use such slots again.
    /// `floor_of(partition)`: the partition's gate_floor, asked only if the group gates.
    /// Progress: lock-free. Dying anywhere leaves a slot, or a member that others evict (docs/recovery.md, M1, M2).
    template <class IsDead, class FloorOf>
    [[nodiscard]] JoinStatus join(const IsDead& is_dead, const FloorOf& floor_of) noexcept {
        if (profile_.static_name.size() > layout::kStaticNameMax) return JoinStatus::invalid_name;
        SetWord set;
        if (groups_.dead() || !groups_.set_of(group_, set)) return JoinStatus::group_deleted;
        step_out();
        if (!hold_slot(is_dead)) return JoinStatus::members_full;
        write_profile();
        M::point("member.held");
        if (!enter(is_dead)) {
            free_slot();
            return JoinStatus::group_deleted;
        }
        M::point("member.joined");
        if (wants_gates(groups_, group_.slot)) show_gates(floor_of);
        groups_.count_wake(group_.slot);
        return JoinStatus::joined;
    }

    /// Is a member no longer; partitions that were not released before are gone for it, and others take them. Gives the slot
    /// back. Of a static member only if it is not to come back: see detach.
    void leave() noexcept {
        if (!slot_) return;
        step_out();
        M::point("leave.left");
        free_slot();
        groups_.count_wake(group_.slot);
    }

    /// A static member closes: it stays in the set and keeps its share until it is back or its session times out. Its slot
    /// belongs to no client any more.
    void detach() noexcept {
        if (!slot_) return;
        groups_.change_head(group_.slot, *slot_, {client_, incarnation_, true}, {0, incarnation_, true});
        slot_.reset();
    }

    /// Tells observers that this member is at work. To be called about once per session_timeout / 64.
    void count_poll(std::uint64_t now_ns) noexcept {
        auto& mine = groups_.member(group_.slot, slot());
        mine.polls.store(++polls_, std::memory_order_relaxed);          // relaxed: only that it changes counts
        mine.last_poll_ns.store(now_ns, std::memory_order_relaxed);     // relaxed: for show
    }

    /// Whether the membership changed since the last look: one load.
    [[nodiscard]] bool changed() const noexcept {
        // acquire GROUP_SET
        return groups_.group(group_.slot).set.high.load(std::memory_order_acquire) != seen_;
    }

    /// Reads the membership, whole. From it follows what is this member's own.
    [[nodiscard]] Look look() noexcept {
        constexpr int kLooksMax = 64;  // a set that changes at every look will be looked at again
        Look look;
        for (int i = 0; i < kLooksMax; ++i) {
            SetWord set;
            if (!groups_.set_of(group_, set)) return {};
            look = read_members(set);
            seen_ = set.halves().high;
            if (!changed()) break;
        }
        return look;
    }

private:
    [[nodiscard]] std::uint64_t bit() const noexcept { return std::uint64_t{1} << *slot_; }

    [[nodiscard]] bool head_is_mine() const noexcept {
        return groups_.head(group_.slot, *slot_) == HeadWord{client_, incarnation_, true};
    }

    void step_out() noexcept {
        SetWord set;
        while (slot_ && groups_.set_of(group_, set) && set.has(*slot_) && head_is_mine()) {
            if (groups_.change_set(group_.slot, set, set.then(set.live & ~bit(), GroupState::open))) return;
        }
    }

    // --- the slot ---

    template <class IsDead>
    [[nodiscard]] bool hold_slot(const IsDead& is_dead) noexcept {
        if (slot_ && take_slot(*slot_, {client_, incarnation_, true})) return true;
        for (std::uint32_t slot = 0; slot < groups_.members_max(); ++slot) {
            const HeadWord head = groups_.head(group_.slot, slot);
            if (!head.held && take_slot(slot, head)) return true;
        }
        for (std::uint32_t slot = 0; slot < groups_.members_max(); ++slot) {
            const HeadWord head = groups_.head(group_.slot, slot);
            if (abandoned(head, is_dead) && take_slot(slot, head)) return true;
        }
        return false;
    }

    /// Only while the slot's bit is clear: nobody but its holder sets it, and the holder is this client, gone, or dead.
    [[nodiscard]] bool take_slot(std::uint32_t slot, HeadWord from) noexcept {
        SetWord set;
        if (!groups_.set_of(group_, set) || set.has(slot)) return false;
        const std::uint32_t incarnation = next_generation(from.incarnation);
        if (!groups_.change_head(group_.slot, slot, from, {client_, incarnation, true})) return false;
        slot_ = slot;
        incarnation_ = incarnation;
        return true;
    }

    void free_slot() noexcept {
        groups_.change_head(group_.slot, *slot_, {client_, incarnation_, true}, {0, incarnation_, false});
        slot_.reset();
    }

    void write_profile() noexcept {
        auto& mine = groups_.member(group_.slot, *slot_);
        const std::string_view name = profile_.static_name;
        mine.polls.store(++polls_, std::memory_order_relaxed);                             // relaxed: as in count_poll
        mine.name_hash.store(name.empty() ? 0 : hash_of(name), std::memory_order_release);  // release MEMBER_FIELD
        mine.name_length.store(name.size(), std::memory_order_release);                     // release MEMBER_FIELD
        write_text(mine.name, name);
        mine.session_timeout_ms.store(profile_.session_timeout_ms, std::memory_order_release);  // release MEMBER_FIELD
    }

    // --- the set ---

    template <class IsDead>
    [[nodiscard]] bool enter(const IsDead& is_dead) noexcept {
        SetWord set;
        for (;;) {
            if (!groups_.set_of(group_, set)) return false;
            const auto older = bearer_of_my_name(set);
            const std::uint64_t without = older ? set.live & ~(std::uint64_t{1} << *older) : set.live;
            const HeadWord head = older ? groups_.head(group_.slot, *older) : HeadWord{};
            if (older) M::point("member.replacing");
            // lost: another change of the set; everything is looked at again
            if (!groups_.change_set(group_.slot, set, set.then(without | bit(), GroupState::open))) continue;
            if (older) M::point("member.replaced");
            // its bit is clear: the holder may free its slot, and that is this client itself or nobody any more
            if (older && (head.client == client_ || abandoned(head, is_dead))) {
                groups_.change_head(group_.slot, *older, head, {0, head.incarnation, false});
            }
            return true;
        }
    }

    [[nodiscard]] std::optional<std::uint32_t> bearer_of_my_name(SetWord set) const noexcept {
        if (profile_.static_name.empty()) return std::nullopt;
        const std::uint64_t hash = hash_of(profile_.static_name);
        for (std::uint32_t slot = 0; slot < groups_.members_max(); ++slot) {
            if (!set.has(slot) || (slot == *slot_ && head_is_mine())) continue;
            const auto& other = groups_.member(group_.slot, slot);
            if (other.name_hash.load(std::memory_order_acquire) == hash &&                           // acquire MEMBER_FIELD
                other.name_length.load(std::memory_order_acquire) == profile_.static_name.size() &&  // acquire MEMBER_FIELD
                same_text(other.name, profile_.static_name)) {
                return slot;
            }
        }
        return std::nullopt;
    }

    /// What the creator of the group may have died before.
    template <class FloorOf>
    void show_gates(const FloorOf& floor_of) noexcept {
        for (std::uint32_t partition = 0; partition < groups_.partitions(); ++partition) {
            if (groups_.word(group_.slot, partition).touched) continue;
            regate(groups_, group_.slot, partition, floor_of(partition), BelowFloor::raise);
        }
    }

    [[nodiscard]] Look read_members(SetWord set) const noexcept {
        Look look;
        look.epoch = set.epoch;
        look.status = status_in(set);
        for (std::uint32_t slot = 0; slot < groups_.members_max(); ++slot) {
            if (set.has(slot)) look.members[look.count++] = {key_of(slot), slot};
        }
        return look;
    }

    [[nodiscard]] LookStatus status_in(SetWord set) const noexcept {
        if (slot_ && set.has(*slot_) && head_is_mine()) return LookStatus::member;
        if (!slot_) return LookStatus::evicted;
        return bearer_of_my_name(set) ? LookStatus::fenced_instance : LookStatus::evicted;
    }

    [[nodiscard]] std::uint64_t key_of(std::uint32_t slot) const noexcept {
        const std::uint64_t name = groups_.member(group_.slot, slot).name_hash.load(std::memory_order_acquire);  // acquire MEMBER_FIELD
        if (name != 0) return mix(name);
        const std::uint32_t incarnation = groups_.head(group_.slot, slot).incarnation;
        return mix(std::uint64_t{incarnation} << 32 | (slot + 1));
    }

    GroupsMemory<M> groups_;
    GroupRef group_;
    std::uint64_t client_;
    MemberProfile profile_;
    std::optional<std::uint32_t> slot_;
    std::uint32_t incarnation_ = 0;
    std::uint64_t polls_ = 0;
    std::uint64_t seen_ = 0;  // high half of the set word at the last look
};

}  // namespace ringmain::group_table
