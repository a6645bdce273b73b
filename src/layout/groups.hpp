// Every shared byte of a topic's `groups` file: consumer groups, their members, and their committed offsets.
//
//   0                            4096          +G x 512            +G x M x 128         +G x P x 128 (page)
//   +----------------------------+-------------+-------------------+--------------------+
//   | FileHeader, GroupsGeometry | GroupSlot   | MemberSlot        | GroupCell          |
//   | GroupsControl at 128       | 512 B, g    | 128 B, g x M + m  | 128 B, g x P + p   |
//   +----------------------------+-------------+-------------------+--------------------+
//
// Two kinds of 16-byte word carry everything: `set` (who is a member of a group) and `word` (committed offset, generation
// and owner of a partition in a group). Both change only by a 16-byte compare-and-swap on the exact old value.
//
// Writers of each field, and the sync points that order them (docs/memory-order.md has the table):
//   dir             whoever creates a group, and whoever finishes that for it (cas16)              GROUP_DIR
//   dead            the topic's deleter                                                            TOPIC_STATE
//   GroupSlot.set   members, evictors, creators, deleters (cas16)                                  GROUP_SET
//   GroupSlot.*     the claimer of a CLAIMED slot; `wake` by everybody (fetch_add)                 GROUP_FIELD
//   MemberSlot.head who takes the slot; its holder; anybody after proof of death (cas16)           MEMBER_HEAD
//   MemberSlot.*    the slot's holder, before its bit is set; polls and last_poll at any time      MEMBER_FIELD
//   GroupCell.word  members, resetters, creators, deleters, movers of log_start (cas16)            GROUP_WORD
//   GroupCell.*     the partition's owner, relaxed; nobody decides by them
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/file_header.hpp"
#include "layout/partition.hpp"
#include "platform/memory.hpp"

namespace ringmain::layout {

inline constexpr std::uint32_t kMembersHardMax = 64;  // bits of the set word
inline constexpr std::uint32_t kGroupsHardMax = 64;
inline constexpr std::size_t kGroupNameMax = 200;
inline constexpr std::size_t kStaticNameMax = 64;
/// The version of the function in src/assignment: members that compute different assignments must not share a file.
inline constexpr std::uint32_t kAssignmentVersion = 1;

/// Follows FileHeader in page 0, written once before the file becomes visible.
struct GroupsGeometry {
    std::uint32_t partitions;   // P
    std::uint32_t groups_max;   // G
    std::uint32_t members_max;  // M
    std::uint32_t reserved;
};
static_assert(sizeof(GroupsGeometry) == 16);
static_assert(offsetof(GroupsGeometry, partitions) == 0);
static_assert(offsetof(GroupsGeometry, groups_max) == 4);
static_assert(offsetof(GroupsGeometry, members_max) == 8);

/// What all groups share.
///
///   +0    dir   { claim epoch u64 | seq u48, slot + 1 u16 }: the creation that was decided last; slot part 0: opened
///   +128  dead  1: the topic was deleted; never goes back
template <class M>
struct GroupsControl {
    alignas(kLineBytes) platform::Word16<M> dir;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> dead;
    std::byte reserved[kLineBytes - 8];
};

/// A group.
///
///   +0    set          { live members, a bit each (CLAIMED: the claiming client) | epoch << 2 | state }
///   +128  born         the epoch at which the slot became OPEN: with the slot it names the group
///   +136  flags        bit 0 gating, bits 8 to 15 loss policy, bits 16 to 23 kind of start, bits 24 to 31 kind: 0 streams, 1 a queue
///   +144  lag_records  let go beyond so many records; 0 never
///   +152  lag_ms       let go beyond so old a record; 0 never
///   +160  start_value  the offset or time of the start
///   +168  name_hash
///   +176  name_length
///   +184  name
///   +384  wake         futex word: members that wait for a partition sleep on it
template <class M>
struct GroupSlot {
    alignas(kLineBytes) platform::Word16<M> set;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> born;
    typename M::template Atomic<std::uint64_t> flags;
    typename M::template Atomic<std::uint64_t> lag_records;
    typename M::template Atomic<std::uint64_t> lag_ms;
    typename M::template Atomic<std::uint64_t> start_value;
    typename M::template Atomic<std::uint64_t> name_hash;
    typename M::template Atomic<std::uint64_t> name_length;
    std::array<typename M::template Atomic<std::uint64_t>, kGroupNameMax / 8> name;
    alignas(kLineBytes) typename M::template Atomic<std::uint32_t> wake;
    std::byte reserved[kLineBytes - 4];
};

/// A member of a group.
///
///   +0    head                { client u64 | incarnation u32, state u32 }: FREE 0, HELD 1
///   +16   polls               grows while the member polls; observers compare it
///   +24   last_poll_ns        since the Unix epoch; for show
///   +32   name_hash           of the static name; 0 none
///   +40   session_timeout_ms
///   +48   name_length         of the static name; 0 none
///   +56   name                static name
template <class M>
struct MemberSlot {
    alignas(kLineBytes) platform::Word16<M> head;
    typename M::template Atomic<std::uint64_t> polls;
    typename M::template Atomic<std::uint64_t> last_poll_ns;
    typename M::template Atomic<std::uint64_t> name_hash;
    typename M::template Atomic<std::uint64_t> session_timeout_ms;
    typename M::template Atomic<std::uint64_t> name_length;
    std::array<typename M::template Atomic<std::uint64_t>, kStaticNameMax / 8> name;
    std::byte reserved[kLineBytes - 120];
};

/// A partition in a group.
///
///   +0    word         { committed << 2 | GATES << 1 | TOUCHED, generation u32 | owner u32 }
///                      owner: 0, or incarnation (24 bits) << 8 | member slot + 1; of a queue all ones
///   +16   committed_ns last commit, since the Unix epoch; for show, as all below
///   +24   owned_ns     since when its owner has it
///   +32   delivered    how far its owner has handed out
///   +40   commits, fenced, handovers
template <class M>
struct GroupCell {
    alignas(kLineBytes) platform::Word16<M> word;
    typename M::template Atomic<std::uint64_t> committed_ns;
    typename M::template Atomic<std::uint64_t> owned_ns;
    typename M::template Atomic<std::uint64_t> delivered;
    typename M::template Atomic<std::uint64_t> commits;
    typename M::template Atomic<std::uint64_t> fenced;
    typename M::template Atomic<std::uint64_t> handovers;
    std::byte reserved[kLineBytes - 64];
};

namespace proof {
using platform::HostMemory;
static_assert(sizeof(platform::Word16<HostMemory>) == 16 && alignof(platform::Word16<HostMemory>) == 16);
using Groups = GroupsControl<HostMemory>;
static_assert(sizeof(Groups) == 256);
static_assert(offsetof(Groups, dir) == 0);
static_assert(offsetof(Groups, dead) == 128);
using Group = GroupSlot<HostMemory>;
static_assert(sizeof(Group) == 512);
static_assert(offsetof(Group, set) == 0);
static_assert(offsetof(Group, born) == 128);
static_assert(offsetof(Group, flags) == 136);
static_assert(offsetof(Group, lag_records) == 144);
static_assert(offsetof(Group, lag_ms) == 152);
static_assert(offsetof(Group, start_value) == 160);
static_assert(offsetof(Group, name_hash) == 168);
static_assert(offsetof(Group, name_length) == 176);
static_assert(offsetof(Group, name) == 184);
static_assert(offsetof(Group, wake) == 384);
using Member = MemberSlot<HostMemory>;
static_assert(sizeof(Member) == 128);
static_assert(offsetof(Member, head) == 0);
static_assert(offsetof(Member, polls) == 16);
static_assert(offsetof(Member, last_poll_ns) == 24);
static_assert(offsetof(Member, name_hash) == 32);
static_assert(offsetof(Member, session_timeout_ms) == 40);
static_assert(offsetof(Member, name_length) == 48);
static_assert(offsetof(Member, name) == 56);
using GroupPartition = GroupCell<HostMemory>;
static_assert(sizeof(GroupPartition) == 128);
static_assert(offsetof(GroupPartition, word) == 0);
static_assert(offsetof(GroupPartition, committed_ns) == 16);
static_assert(offsetof(GroupPartition, owned_ns) == 24);
static_assert(offsetof(GroupPartition, delivered) == 32);
static_assert(offsetof(GroupPartition, commits) == 40);
static_assert(offsetof(GroupPartition, fenced) == 48);
static_assert(offsetof(GroupPartition, handovers) == 56);
}  // namespace proof

inline constexpr std::uint64_t kGroupsGeometryAt = sizeof(FileHeader);
inline constexpr std::uint64_t kGroupsControlAt = 128;
inline constexpr std::uint64_t kGroupsAt = kPageBytes;

/// Where the parts of the file begin. No sum can wrap: groups and members are at most 64, partitions fit 32 bits.
[[nodiscard]] constexpr std::uint64_t group_members_at(const GroupsGeometry& geometry) noexcept {
    return kGroupsAt + geometry.groups_max * sizeof(GroupSlot<platform::HostMemory>);
}
[[nodiscard]] constexpr std::uint64_t group_cells_at(const GroupsGeometry& geometry) noexcept {
    return group_members_at(geometry) +
           std::uint64_t{geometry.groups_max} * geometry.members_max * sizeof(MemberSlot<platform::HostMemory>);
}
[[nodiscard]] constexpr std::uint64_t groups_file_bytes(const GroupsGeometry& geometry) noexcept {
    const std::uint64_t end = group_cells_at(geometry) + std::uint64_t{geometry.groups_max} * geometry.partitions *
                                                             sizeof(GroupCell<platform::HostMemory>);
    return (end + kPageBytes - 1) & ~std::uint64_t{kPageBytes - 1};
}

}  // namespace ringmain::layout
