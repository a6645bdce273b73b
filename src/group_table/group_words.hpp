// The words of the group table: what their bits mean, and nothing else.
#pragma once

#include <bit>
#include <cstdint>

#include "layout/groups.hpp"
#include "platform/memory.hpp"

namespace ringmain::group_table {

using platform::Halves;

enum class GroupState : std::uint8_t {
    free,
    claimed,  // private to its claimer, who writes name, options and positions
    open,     // a group
    closed,   // deleted; being swept
};

/// The set word of a group: members, state and epoch, which change together. Every change adds 1 to the epoch.
struct SetWord {
    std::uint64_t live = 0;  // open: a bit for each member slot; claimed: the claiming client's word
    std::uint64_t epoch = 0;
    GroupState state = GroupState::free;
    friend bool operator==(const SetWord&, const SetWord&) = default;

    [[nodiscard]] static constexpr SetWord from(Halves halves) noexcept {
        return {halves.low, halves.high >> 2, static_cast<GroupState>(halves.high & 3)};
    }
    [[nodiscard]] constexpr Halves halves() const noexcept {
        return {live, epoch << 2 | static_cast<std::uint64_t>(state)};
    }
    [[nodiscard]] constexpr bool has(std::uint32_t slot) const noexcept { return slot < 64 && (live >> slot & 1) != 0; }
    [[nodiscard]] constexpr std::uint32_t members() const noexcept {
        return static_cast<std::uint32_t>(std::popcount(live));
    }
    /// The word after a change.
    [[nodiscard]] constexpr SetWord then(std::uint64_t new_live, GroupState new_state) const noexcept {
        return {new_live, (epoch + 1) & (~std::uint64_t{0} >> 2), new_state};
    }
};

/// Who owns a partition: a member slot in one incarnation. 0 nobody.
struct Owner {
    std::uint32_t word = 0;
    friend bool operator==(const Owner&, const Owner&) = default;

    [[nodiscard]] static constexpr Owner of(std::uint32_t slot, std::uint32_t incarnation) noexcept {
        return {incarnation << 8 | (slot + 1)};
    }
    /// Requires word != 0. May lie outside of the table: words are input.
    [[nodiscard]] constexpr std::uint32_t slot() const noexcept { return (word & 0xff) - 1; }
    [[nodiscard]] constexpr bool same_incarnation(std::uint32_t incarnation) const noexcept {
        return word >> 8 == (incarnation & 0xffffff);
    }
};

/// The owner of a queue's partitions: its workers, all of them. No member slot has that number.
inline constexpr Owner kQueueOwner{0xffffffff};

/// Committed offsets have 62 bits.
inline constexpr std::uint64_t kCommittedMax = ~std::uint64_t{0} >> 2;

/// The word of a partition in a group.
struct PartitionWord {
    std::uint64_t committed = 0;  // the next offset to read
    bool touched = false;         // somebody committed or reset; else only the start was decided
    bool gates = false;           // log_start may not pass `committed`
    std::uint32_t generation = 0;
    Owner owner;
    friend bool operator==(const PartitionWord&, const PartitionWord&) = default;

    [[nodiscard]] static constexpr PartitionWord from(Halves halves) noexcept {
        return {halves.low >> 2, (halves.low & 1) != 0, (halves.low & 2) != 0,
                static_cast<std::uint32_t>(halves.high >> 32), {static_cast<std::uint32_t>(halves.high)}};
    }
    [[nodiscard]] constexpr Halves halves() const noexcept {
        return {committed << 2 | (gates ? 2U : 0U) | (touched ? 1U : 0U),
                std::uint64_t{generation} << 32 | owner.word};
    }
    [[nodiscard]] constexpr bool same_tenure(const PartitionWord& other) const noexcept {
        return generation == other.generation && owner == other.owner;
    }
};

/// Generations are compared for equality only, and 0 is none.
[[nodiscard]] constexpr std::uint32_t next_generation(std::uint32_t generation) noexcept {
    return generation + 1 == 0 ? 1 : generation + 1;
}

/// The head of a member slot.
struct HeadWord {
    std::uint64_t client = 0;
    std::uint32_t incarnation = 0;
    bool held = false;
    friend bool operator==(const HeadWord&, const HeadWord&) = default;

    [[nodiscard]] static constexpr HeadWord from(Halves halves) noexcept {
        return {halves.low, static_cast<std::uint32_t>(halves.high >> 32), (halves.high & 1) != 0};
    }
    [[nodiscard]] constexpr Halves halves() const noexcept {
        return {client, std::uint64_t{incarnation} << 32 | (held ? 1U : 0U)};
    }
};

/// The slot's holder will never touch it again: a static member that closed (no client), or one that is proven dead.
template <class IsDead>
[[nodiscard]] bool abandoned(HeadWord head, const IsDead& is_dead) noexcept {
    return head.held && (head.client == 0 || is_dead(head.client));
}

/// The directory word: the creation that was decided and perhaps not opened yet.
struct DirWord {
    std::uint64_t claim_epoch = 0;
    std::uint64_t sequence = 0;  // 48 bits
    std::uint16_t slot_plus_one = 0;
    friend bool operator==(const DirWord&, const DirWord&) = default;

    [[nodiscard]] static constexpr DirWord from(Halves halves) noexcept {
        return {halves.low, halves.high >> 16, static_cast<std::uint16_t>(halves.high & 0xffff)};
    }
    [[nodiscard]] constexpr Halves halves() const noexcept { return {claim_epoch, sequence << 16 | slot_plus_one}; }
    [[nodiscard]] constexpr bool pending() const noexcept { return slot_plus_one != 0; }
    [[nodiscard]] constexpr DirWord then(std::uint64_t epoch, std::uint16_t slot) const noexcept {
        return {epoch, (sequence + 1) & (~std::uint64_t{0} >> 16), slot};
    }
};

}  // namespace ringmain::group_table
