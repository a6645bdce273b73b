// Which member gets which partition: a pure function of the membership, so that all members agree without talking.
//
// Capped rendezvous hashing: the pairs (partition, member) in order of a hash of both; a pair is taken unless the partition
// has its member or the member is full. Full: floor(P / n) partitions, and P mod n members get one more. So it is balanced
// to one, and a member that comes or goes moves few partitions beside its own.
#pragma once

#include <cstdint>
#include <span>

namespace ringmain::assignment {

/// A member: its key (that of a static member is the same over restarts) and the slot by which the answer names it.
struct Candidate {
    std::uint64_t key = 0;
    std::uint32_t slot = 0;
};

inline constexpr std::uint8_t kNobody = 0xff;

/// Fills owner[p] with the slot of the member that gets partition p; kNobody if there are no members. Depends on the set of
/// members alone, not on their order. Requires owner.size() <= kPartitionsMax, members.size() <= 64, slots < 64.
/// Allocates nothing. A change of what it answers needs a new layout::kAssignmentVersion.
void assign(std::span<const Candidate> members, std::span<std::uint8_t> owner) noexcept;

}  // namespace ringmain::assignment
