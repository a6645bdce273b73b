// Groups by name: found, or created by whoever wants one first. Lock-free; nobody waits for anybody.
//
//   FREE --claim--> CLAIMED --decided in the directory word--> OPEN --delete--> CLOSED --swept by anybody--> FREE
//
// The directory word decides between two creators of one name. What it decided is finished by anybody who comes by, by
// compare-and-swap from exactly the claim that it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "group_table/group_options.hpp"
#include "group_table/groups_memory.hpp"
#include "group_table/shared_text.hpp"
#include "group_table/sweeping.hpp"

namespace ringmain::group_table {

enum class FindStatus : std::uint8_t {
    found,          // it was there
    created,        // it is there now, by this call
    absent,         // find only
    limit,          // every slot is a group's or a live client's claim
    invalid_name,   // empty or longer than kGroupNameMax
    topic_deleted,
    unmade,         // what it was to have beside the table could not be made
};

struct Found {
    FindStatus status = FindStatus::absent;
    GroupRef group;  // found, created
};

/// A group that is nothing but its words.
struct NothingBeside {
    static bool make(GroupRef) noexcept { return true; }
    static void unmake(GroupRef) noexcept {}
};

/// Finds and creates groups for one client. One thread at a time.
template <class M>
class GroupCreation {
public:
    /// `client`: the caller's client word.
    GroupCreation(const GroupsMemory<M>& groups, std::uint64_t client) noexcept : groups_(groups), client_(client) {}

    [[nodiscard]] static bool valid_name(std::string_view name) noexcept {
        return !name.empty() && name.size() <= layout::kGroupNameMax;
    }

    /// Finishes the creation that was decided last, if it is not finished. Stores nothing but whole words.
    void help() const noexcept {
        const DirWord seen = directory();
        if (seen.pending()) finish(seen);
    }

    /// Looks, and creates nothing.
    [[nodiscard]] Found find(std::string_view name) const noexcept {
        if (!valid_name(name)) return {FindStatus::invalid_name, {}};
        if (const auto group = look(name)) return {FindStatus::found, *group};
        return {groups_.dead() ? FindStatus::topic_deleted : FindStatus::absent, {}};
    }

    /// Frees a slot whose claimer is proven dead, if no group came of the claim. True: it is free of that claim.
    template <class IsDead>
    bool free_dead_claim(std::uint32_t slot, const IsDead& is_dead) const noexcept {
        const SetWord set = groups_.set(slot);
        return set.state == GroupState::claimed && make_free(slot, set, is_dead);
    }

    /// Finds the group, or creates it with these options. `position_of(partition)`: where the group begins, decided by
    /// whoever creates it, once. `is_dead(client word)`: true only if that client is proven dead. `beside.make(group)`
    /// makes what the group is to have beside the table, once its words are written and before anybody can find it, or says
    /// that it cannot; if another group of the name is found after all, `beside.unmake(group)` takes that back.
    /// Progress: lock-free. Dying anywhere leaves nothing that others wait for (docs/recovery.md, G1 to G4).
    template <class PositionOf, class IsDead, class Beside = NothingBeside>
    [[nodiscard]] Found find_or_create(std::string_view name, const GroupOptions& options, const PositionOf& position_of,
                                       const IsDead& is_dead, Beside&& beside = {}) noexcept {
        if (!valid_name(name)) return {FindStatus::invalid_name, {}};
        std::optional<GroupRef> created;
        for (;;) {
            if (groups_.dead()) return give_up(FindStatus::topic_deleted, beside);
            help();
            const DirWord seen = directory();  // before the look
            if (seen.pending()) continue;
            if (const auto group = look(name)) {
                give_back_claim(beside);
                return {created == group ? FindStatus::created : FindStatus::found, *group};
            }
            if (!claim_) {
                if (!claim(is_dead)) return {FindStatus::limit, {}};
                fill(name, options, position_of);
                M::point("group.filled");
                if (!beside.make(claimed())) return give_up(FindStatus::unmade, beside);
            }
            if (decide(seen)) {
                created = claimed();
                claim_.reset();  // it is the directory's now
            }
        }
    }

private:
    struct Claim {
        std::uint32_t slot = 0;
        std::uint64_t epoch = 0;  // of the CLAIMED word
    };

    [[nodiscard]] DirWord directory() const noexcept {
        return DirWord::from(platform::load16(groups_.control().dir));  // acquire GROUP_DIR
    }

    bool change_directory(DirWord expected, DirWord desired) const noexcept {
        Halves halves = expected.halves();
        // release GROUP_DIR, acquire GROUP_DIR; lost: another creation was decided or finished; seq grows: no ABA
        return M::cas16(groups_.control().dir, halves, desired.halves());
    }

    void finish(DirWord seen) const noexcept {
        const std::uint32_t slot = seen.slot_plus_one - 1U;
        if (slot < groups_.groups_max()) {
            SetWord set = groups_.set(slot);
            // exactly the claim that was decided: a later claim of the slot is somebody's half-filled one
            if (set.state == GroupState::claimed && set.epoch == seen.claim_epoch) {
                groups_.change_set(slot, set, set.then(0, GroupState::open));
                M::point("group.opened");
            }
        }
        change_directory(seen, seen.then(0, 0));
    }

    [[nodiscard]] std::optional<GroupRef> look(std::string_view name) const noexcept {
        const std::uint64_t hash = hash_of(name);
        for (std::uint32_t slot = 0; slot < groups_.groups_max(); ++slot) {
            if (groups_.set(slot).state != GroupState::open) continue;
            const std::uint64_t born = groups_.born(slot);
            const auto& group = groups_.group(slot);
            if (group.name_hash.load(std::memory_order_acquire) != hash) continue;           // acquire GROUP_FIELD
            if (group.name_length.load(std::memory_order_acquire) != name.size()) continue;  // acquire GROUP_FIELD
            // a later claimer of the slot writes born first: if it is the same, the name was that group's
            if (same_text(group.name, name) && groups_.born(slot) == born) return GroupRef{slot, born};
        }
        return std::nullopt;
    }

    template <class IsDead>
    [[nodiscard]] bool claim(const IsDead& is_dead) noexcept {
        for (int pass = 0; pass < 2; ++pass) {
            for (std::uint32_t slot = 0; slot < groups_.groups_max(); ++slot) {
                SetWord set = groups_.set(slot);
                if (set.state == GroupState::free && take(slot, set)) return true;
                if (pass == 1 && make_free(slot, set, is_dead)) {
                    set = groups_.set(slot);
                    if (set.state == GroupState::free && take(slot, set)) return true;
                }
            }
        }
        return false;
    }

    [[nodiscard]] bool take(std::uint32_t slot, SetWord set) noexcept {
        if (!groups_.change_set(slot, set, set.then(client_, GroupState::claimed))) return false;
        claim_ = Claim{slot, set.then(0, GroupState::claimed).epoch};
        M::point("group.claimed");
        return true;
    }

    /// A deleted group is swept; the claim of a dead client, if it was not decided, is freed.
    template <class IsDead>
    [[nodiscard]] bool make_free(std::uint32_t slot, SetWord set, const IsDead& is_dead) const noexcept {
        if (set.state == GroupState::closed) return sweep(groups_, slot);
        if (set.state != GroupState::claimed || !is_dead(set.live)) return false;
        help();  // after the proof: if the dead one's claim was decided, it is open now
        return groups_.change_set(slot, set, set.then(0, GroupState::free));
    }

    /// Born first: readers of the slot's last group find out by it. Everything here is private until it is decided.
    template <class PositionOf>
    void fill(std::string_view name, const GroupOptions& options, const PositionOf& position_of) noexcept {
        auto& group = groups_.group(claim_->slot);
        group.born.store(claim_->epoch + 1, std::memory_order_release);       // release GROUP_FIELD
        group.name_hash.store(hash_of(name), std::memory_order_release);      // release GROUP_FIELD
        group.name_length.store(name.size(), std::memory_order_release);      // release GROUP_FIELD
        write_text(group.name, name);
        write_options(groups_, claim_->slot, options);
        const Owner owner = options.kind == GroupKind::queue ? kQueueOwner : Owner{};
        for (std::uint32_t partition = 0; partition < groups_.partitions(); ++partition) {
            forget_figures(groups_.cell(claim_->slot, partition));
            PartitionWord word = groups_.word(claim_->slot, partition);
            PartitionWord wanted;
            do {  // lost: to a sweeper of the slot's last group that came late
                wanted = {position_of(partition) & kCommittedMax, false, options.gating, next_generation(word.generation), owner};
            } while (!groups_.change_word(claim_->slot, partition, word, wanted));
        }
    }

    /// Those of the slot's last group. All relaxed: for show.
    static void forget_figures(typename GroupsMemory<M>::Cell& cell) noexcept {
        for (auto* figure : {&cell.committed_ns, &cell.owned_ns, &cell.delivered, &cell.commits, &cell.fenced, &cell.handovers})
            figure->store(0, std::memory_order_relaxed);
    }

    /// The decision between all who create a group at this moment.
    [[nodiscard]] bool decide(DirWord seen) const noexcept {
        const bool won = change_directory(seen, seen.then(claim_->epoch, static_cast<std::uint16_t>(claim_->slot + 1)));
        if (won) M::point("group.decided");
        return won;
    }

    /// The group that the claim will be.
    [[nodiscard]] GroupRef claimed() const noexcept { return {claim_->slot, claim_->epoch + 1}; }

    template <class Beside>
    void give_back_claim(Beside& beside) noexcept {
        if (!claim_) return;
        beside.unmake(claimed());
        SetWord set{client_, claim_->epoch, GroupState::claimed};
        groups_.change_set(claim_->slot, set, set.then(0, GroupState::free));  // lost: it was decided after all
        claim_.reset();
    }

    template <class Beside>
    [[nodiscard]] Found give_up(FindStatus status, Beside& beside) noexcept {
        give_back_claim(beside);
        return {status, {}};
    }

    GroupsMemory<M> groups_;
    std::uint64_t client_;
    std::optional<Claim> claim_;
};

}  // namespace ringmain::group_table
