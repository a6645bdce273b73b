// Owning partitions and committing offsets, for one member in one incarnation.
//
// Every change is one compare-and-swap that expects {committed, own generation, own owner word}. So a commit cannot race a
// hand-over: it lands inside the tenure that read the records, or nowhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "group_table/group_gates.hpp"
#include "group_table/groups_memory.hpp"

namespace ringmain::group_table {

enum class AcquireStatus : std::uint8_t {
    acquired,
    owned,    // by a member that is in the set; look again later (is it dead or overdue?)
    lost,     // the word changed at this moment; look again
    evicted,  // the caller is not in the set
};

struct Acquired {
    AcquireStatus status = AcquireStatus::lost;
    std::uint32_t generation = 0;  // acquired: names the tenure
    std::uint64_t committed = 0;   // acquired: where to go on, from the very word that was exchanged
    bool gates = false;
    std::uint32_t owner_slot = 0;  // owned
};

/// What a member keeps of a partition that it owns.
struct Tenure {
    std::uint32_t partition = 0;
    std::uint32_t generation = 0;
};

/// What the word says about a tenure.
struct Standing {
    bool held = false;   // false: fenced, for ever; drop what was fetched
    bool gates = false;  // false on a gating group: it was let go
    std::uint64_t committed = 0;
    std::uint32_t generation = 0;  // the word's
};

enum class CommitStatus : std::uint8_t {
    committed,
    not_applied,      // refused because of another partition of the call
    stale,            // lower than what is committed; going back is replay or reset
    beyond_position,  // records that were not handed out would be skipped; seek first
    fenced,           // the tenure is over; never to be tried again with the new generation
    invalid,          // no such partition
};

/// One partition of a commit: what is wanted, and what came of it.
struct CommitItem {
    Tenure tenure;
    std::uint64_t position = 0;  // the next offset that the member would hand out
    std::uint64_t offset = 0;    // to be committed: the next offset to read
    // the answer
    CommitStatus status = CommitStatus::not_applied;
    bool let_go = false;                 // the group gates, and this partition was found let go
    bool gates = false;                  // whether it gates now
    std::uint64_t committed = 0;         // what is committed now
    std::uint32_t their_generation = 0;  // fenced: the generation that is current
};

enum class ReleaseStatus : std::uint8_t { released, lost };

/// The partitions of a member. Requires a member that has joined; after it was evicted every call finds that out.
/// One thread at a time. Progress: lock-free.
template <class M>
class Positions {
public:
    Positions(const GroupsMemory<M>& groups, GroupRef group, std::uint32_t member_slot, std::uint32_t incarnation) noexcept
        : groups_(groups), group_(group), slot_(member_slot), me_(Owner::of(member_slot, incarnation)) {}

    [[nodiscard]] Owner owner() const noexcept { return me_; }

    /// Takes a partition that nobody owns, or whose owner is gone. The word is read before the set, so a live owner is
    /// never taken for a gone one.
    [[nodiscard]] Acquired acquire(std::uint32_t partition, std::uint64_t now_ns) const noexcept {
        if (partition >= groups_.partitions()) return {};
        PartitionWord word = groups_.word(group_.slot, partition);
        M::point("acquire.read");
        SetWord set;
        if (!groups_.set_of(group_, set) || !set.has(slot_)) return {.status = AcquireStatus::evicted};
        if (word.owner != me_ && groups_.is_owner(group_.slot, set, word.owner)) {
            return {.status = AcquireStatus::owned, .owner_slot = word.owner.slot()};
        }
        PartitionWord mine = word;
        mine.generation = next_generation(word.generation);
        mine.owner = me_;
        if (!groups_.change_word(group_.slot, partition, word, mine)) return {};
        M::point("partition.acquired");
        note_owned(partition, mine.committed, now_ns);
        return {AcquireStatus::acquired, mine.generation, mine.committed, mine.gates, 0};
    }

    /// To be asked before records are handed out. One load of the word's tenure, one of its position.
    [[nodiscard]] Standing standing(Tenure tenure) const noexcept {
        if (tenure.partition >= groups_.partitions()) return {};
        const PartitionWord word = groups_.word(group_.slot, tenure.partition);
        return {holds(word, tenure), word.gates, word.committed, word.generation};
    }

    /// Gives a partition up; `finished`: what was processed, committed by the same exchange. Wakes nobody: the caller counts
    /// a wake-up when it has given up all that it has to.
    [[nodiscard]] ReleaseStatus release(Tenure tenure, std::optional<std::uint64_t> finished) const noexcept {
        if (tenure.partition >= groups_.partitions()) return ReleaseStatus::lost;
        PartitionWord word = groups_.word(group_.slot, tenure.partition);
        while (holds(word, tenure)) {  // again: GATES changed in between
            PartitionWord free = word;
            free.owner = {};
            if (finished && *finished >= word.committed && *finished <= kCommittedMax) {
                free.committed = *finished;
                free.touched = true;
            }
            if (groups_.change_word(group_.slot, tenure.partition, word, free)) {
                M::point("partition.released");
                return ReleaseStatus::released;
            }
        }
        return ReleaseStatus::lost;
    }

    /// Commits several partitions. First all are checked: any refusal, and nothing is applied. Then one after the other, each
    /// atomically; a process that dies in between leaves a prefix committed. True if all of them are.
    /// `floor_of(partition)`: the partition's gate_floor, asked only for a group that gates and was let go.
    template <class FloorOf>
    bool commit(std::span<CommitItem> items, const FloorOf& floor_of, std::uint64_t now_ns) const noexcept {
        return allows(items) && apply(items, floor_of, now_ns);
    }

    /// The first half: whether nothing speaks against any of them. For commits in several tables.
    bool allows(std::span<CommitItem> items) const noexcept {
        bool refused = false;
        for (CommitItem& item : items) {
            item.status = CommitStatus::not_applied;
            const CommitStatus status = check(item);
            if (status == CommitStatus::not_applied) continue;
            item.status = status;
            refused = true;
        }
        return !refused;
    }

    /// The second half. Requires that all of them were allowed.
    template <class FloorOf>
    bool apply(std::span<CommitItem> items, const FloorOf& floor_of, std::uint64_t now_ns) const noexcept {
        const bool gating = wants_gates(groups_, group_.slot);
        bool all = true;
        for (CommitItem& item : items) {
            apply_one(item, gating, now_ns);
            if (gating && item.status == CommitStatus::committed) return_to_gates(item, floor_of);
            all = all && item.status == CommitStatus::committed;
            M::point("commit.between");
        }
        return all;
    }

    /// Goes back, or jumps, by the owner's own will: a new generation of the same owner. The only way to commit less than
    /// what is committed. `tenure` becomes the new one. Answers where the position is now (raised to the floor if it gates).
    /// `before(generation)`: told before each exchange what it would make the partition's generation.
    template <class FloorOf, class Before>
    [[nodiscard]] std::optional<std::uint64_t> replay(Tenure& tenure, std::uint64_t offset, const FloorOf& floor_of, const Before& before) const {
        if (tenure.partition >= groups_.partitions() || offset > kCommittedMax) return std::nullopt;
        const bool gating = wants_gates(groups_, group_.slot);
        PartitionWord word = groups_.word(group_.slot, tenure.partition);
        while (holds(word, tenure)) {
            const PartitionWord to{offset, true, gating, next_generation(word.generation), me_};
            before(to.generation);
            if (!groups_.change_word(group_.slot, tenure.partition, word, to)) continue;
            tenure.generation = to.generation;
            M::point("replay.written");
            if (!gating) return offset;
            return regate(groups_, group_.slot, tenure.partition, floor_of(tenure.partition), BelowFloor::raise).committed;
        }
        return std::nullopt;
    }

    template <class FloorOf>
    [[nodiscard]] std::optional<std::uint64_t> replay(Tenure& tenure, std::uint64_t offset, const FloorOf& floor_of) const noexcept {
        return replay(tenure, offset, floor_of, [](std::uint32_t) noexcept {});
    }

    /// How far records were handed out: a hint for whoever asks what holds a partition up.
    void note_delivered(std::uint32_t partition, std::uint64_t offset) const noexcept {
        groups_.cell(group_.slot, partition).delivered.store(offset, std::memory_order_relaxed);  // relaxed: for show
    }

private:
    [[nodiscard]] bool holds(const PartitionWord& word, Tenure tenure) const noexcept {
        return word.generation == tenure.generation && word.owner == me_;
    }

    /// not_applied: nothing speaks against it.
    [[nodiscard]] CommitStatus check(CommitItem& item) const noexcept {
        if (item.tenure.partition >= groups_.partitions()) return CommitStatus::invalid;
        const PartitionWord word = groups_.word(group_.slot, item.tenure.partition);
        item.committed = word.committed;
        item.gates = word.gates;
        if (!holds(word, item.tenure)) return fenced(item, word);
        if (item.offset < word.committed) return CommitStatus::stale;
        if (item.offset > item.position || item.offset > kCommittedMax) return CommitStatus::beyond_position;
        return CommitStatus::not_applied;
    }

    [[nodiscard]] CommitStatus fenced(CommitItem& item, const PartitionWord& word) const noexcept {
        item.their_generation = word.generation;
        item.committed = word.committed;
        // relaxed: a statistic
        groups_.cell(group_.slot, item.tenure.partition).fenced.fetch_add(1, std::memory_order_relaxed);
        return CommitStatus::fenced;
    }

    void apply_one(CommitItem& item, bool gating, std::uint64_t now_ns) const noexcept {
        PartitionWord word = groups_.word(group_.slot, item.tenure.partition);
        for (;;) {
            if (!holds(word, item.tenure)) {
                item.status = fenced(item, word);
                return;
            }
            if (item.offset < word.committed) {  // raised to the floor since it was checked
                item.committed = word.committed;
                item.status = CommitStatus::stale;
                return;
            }
            PartitionWord to = word;
            to.committed = item.offset;
            to.touched = true;
            if (groups_.change_word(group_.slot, item.tenure.partition, word, to)) break;
            // lost: a mover let it go, or it was fenced
        }
        M::point("commit.done");
        item.status = CommitStatus::committed;
        item.committed = item.offset;
        item.let_go = gating && !word.gates;
        item.gates = word.gates;
        note_commit(item, now_ns);
    }

    /// A word that was let go gates again if log_start has not passed it.
    template <class FloorOf>
    void return_to_gates(CommitItem& item, const FloorOf& floor_of) const noexcept {
        const std::uint32_t partition = item.tenure.partition;
        PartitionWord word = groups_.word(group_.slot, partition);
        while (!word.gates && holds(word, item.tenure)) {
            const auto& floor = floor_of(partition);
            if (floor.load(std::memory_order_acquire) > word.committed) return;  // acquire GATE_FLOOR: hopeless
            PartitionWord to = word;
            to.gates = true;
            if (!groups_.change_word(group_.slot, partition, word, to)) continue;
            item.gates = regate(groups_, group_.slot, partition, floor, BelowFloor::let_go).gates;
            return;
        }
    }

    // All relaxed: for show.
    void note_owned(std::uint32_t partition, std::uint64_t committed, std::uint64_t now_ns) const noexcept {
        auto& cell = groups_.cell(group_.slot, partition);
        cell.owned_ns.store(now_ns, std::memory_order_relaxed);
        cell.delivered.store(committed, std::memory_order_relaxed);
        cell.handovers.fetch_add(1, std::memory_order_relaxed);
    }
    void note_commit(const CommitItem& item, std::uint64_t now_ns) const noexcept {
        auto& cell = groups_.cell(group_.slot, item.tenure.partition);
        cell.committed_ns.store(now_ns, std::memory_order_relaxed);
        cell.commits.store(cell.commits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    GroupsMemory<M> groups_;
    GroupRef group_;
    std::uint32_t slot_;
    Owner me_;
};

}  // namespace ringmain::group_table
