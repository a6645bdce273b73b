// What groups keep on a block topic: looked at by whoever moves log_start, shown and looked after by the groups.
//
// A group gates by existing, not by being alive. A mover announces how far it wants to go (gate_floor), then looks at the
// gates again; a word that begins to gate is shown first, then compared with the floor. One of the two sees the other.
#pragma once

#include <cstdint>
#include <optional>

#include "group_table/group_options.hpp"
#include "group_table/groups_memory.hpp"

namespace ringmain::group_table {

struct LowestGroup {
    std::uint64_t offset = 0;
    std::optional<std::uint32_t> slot;  // nothing: no group gates
};

/// The gates of all groups in one partition, as a mover sees them. A value; without memory there are none.
template <class M>
class GroupGates {
public:
    GroupGates() = default;
    /// `writable`: the mapping is, so that groups too far behind can be let go.
    GroupGates(const GroupsMemory<M>& groups, std::uint32_t partition, bool writable) noexcept
        : groups_(groups), partition_(partition), writable_(writable) {}

    /// The lowest offset that a group gates.
    [[nodiscard]] LowestGroup lowest() const noexcept {
        LowestGroup lowest;
        for (std::uint32_t slot = 0; slot < groups_.groups_max(); ++slot) {
            if (const auto word = gating(slot)) lower(lowest, word->committed, slot);
        }
        return lowest;
    }

    /// The same; a group that is below `target` and further behind `log_end` than it wants to hold is let go first.
    [[nodiscard]] LowestGroup lowest_after_letting_go(std::uint64_t target, std::uint64_t log_end) const noexcept {
        LowestGroup lowest;
        for (std::uint32_t slot = 0; slot < groups_.groups_max(); ++slot) {
            auto word = gating(slot);
            while (word && word->committed < target && too_far_behind(slot, word->committed, log_end)) {
                if (let_go(slot, *word)) break;
                word = gating(slot);
            }
            if (word && word->gates) lower(lowest, word->committed, slot);
        }
        return lowest;
    }

    /// The word of a group that gates here.
    [[nodiscard]] std::optional<PartitionWord> gating(std::uint32_t slot) const noexcept {
        if (groups_.set(slot).state != GroupState::open) return std::nullopt;
        const PartitionWord word = groups_.word(slot, partition_);
        if (!word.gates) return std::nullopt;
        return word;
    }

    /// Lets a group go: exactly this word, so a group that has committed meanwhile is judged anew. `word` is what it is
    /// afterwards. The group is told at its next commit or poll.
    bool let_go(std::uint32_t slot, PartitionWord& word) const noexcept {
        PartitionWord without = word;
        without.gates = false;
        if (!groups_.change_word(slot, partition_, word, without)) return false;
        word = without;
        M::point("group.let_go");
        return true;
    }

    [[nodiscard]] const GroupsMemory<M>& groups() const noexcept { return groups_; }
    [[nodiscard]] bool writable() const noexcept { return writable_; }

private:
    static void lower(LowestGroup& lowest, std::uint64_t offset, std::uint32_t slot) noexcept {
        if (!lowest.slot || offset < lowest.offset) lowest = {offset, slot};
    }

    [[nodiscard]] bool too_far_behind(std::uint32_t slot, std::uint64_t committed, std::uint64_t log_end) const noexcept {
        if (!writable_ || committed >= log_end) return false;
        const std::uint64_t lag_max = groups_.group(slot).lag_records.load(std::memory_order_acquire);  // acquire GROUP_FIELD
        return lag_max != 0 && log_end - committed > lag_max;
    }

    GroupsMemory<M> groups_;
    std::uint32_t partition_ = 0;
    bool writable_ = false;
};

/// What becomes of a word that gates below the floor, where log_start may already be.
enum class BelowFloor : std::uint8_t {
    raise,   // start, reset: it begins at the floor
    let_go,  // a committed offset must not be moved: it does not gate
};

struct Regated {
    bool gates = false;
    bool raised = false;
    std::uint64_t committed = 0;
};

/// Makes a gate of a word that shows GATES already: from the return on, log_start never passes what it answers. Idempotent;
/// anybody may. A word without GATES stays as it is.
template <class M, class Floor>
Regated regate(const GroupsMemory<M>& groups, std::uint32_t slot, std::uint32_t partition, const Floor& gate_floor,
               BelowFloor below) noexcept {
    Regated done;
    PartitionWord word = groups.word(slot, partition);
    for (;;) {
        done.gates = word.gates;
        done.committed = word.committed;
        if (!word.gates) return done;
        M::point("group.shown");
        // the word's GATES before the look at the floor; pairs with the fence in advance_start
        M::fence(std::memory_order_seq_cst);
        const std::uint64_t floor = gate_floor.load(std::memory_order_acquire);  // acquire GATE_FLOOR
        if (floor <= word.committed) return done;
        PartitionWord to = word;
        if (below == BelowFloor::raise && floor <= kCommittedMax) {
            to.committed = floor;
        } else {
            to.gates = false;
        }
        // lost: a commit, a reset or a mover; look again
        if (groups.change_word(slot, partition, word, to)) {
            done.raised = to.gates;
            word = to;
        }
    }
}

}  // namespace ringmain::group_table
