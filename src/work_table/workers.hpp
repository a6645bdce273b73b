// The workers of a queue: their slots, which words name, and the cap on what all of them hold together.
//
// No counter can leak: each worker counts its own, and the share of one that was killed or stopped is counted until the last
// of its locks has run out, and no longer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "layout/work.hpp"
#include "work_table/work_clock.hpp"

namespace ringmain::work_table {

template <class M>
class Workers {
public:
    using Slot = layout::WorkerSlot<M>;

    Workers() = default;
    /// `first`: the first of `count` slots, at most kWorkersMax.
    Workers(Slot* first, std::uint32_t count) noexcept : slots_(first), count_(count) {}

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] Slot& slot(std::uint32_t slot) const noexcept { return slots_[slot]; }
    [[nodiscard]] std::uint64_t owner(std::uint32_t slot) const noexcept {
        return slots_[slot].owner.load(std::memory_order_acquire);  // acquire WORKER
    }

    /// A slot for this client, or nothing if living ones have all. `is_dead(client word)`: proven dead; before such a one's slot
    /// is used again, `return_records(slot, owner)` takes its records back in all partitions, or says that it could not. Dying in here leaves a slot of a
    /// dead client, which the next one takes.
    template <class IsDead, class ReturnRecords>
    [[nodiscard]] std::optional<std::uint32_t> join(std::uint64_t client, const IsDead& is_dead, const ReturnRecords& return_records) noexcept {
        for (std::uint32_t slot = 0; slot < count_; ++slot) {
            if (owner(slot) == 0 && take(slot, 0, client)) return slot;
        }
        for (std::uint32_t slot = 0; slot < count_; ++slot) {
            const std::uint64_t holder = owner(slot);
            if (holder == 0 || !is_dead(holder)) continue;
            if (!return_records(slot, holder)) continue;
            if (take(slot, holder, client) || take(slot, 0, client)) return slot;  // 0: another one has freed it
        }
        return std::nullopt;
    }

    /// Requires that no word names the slot any more.
    void leave(std::uint32_t slot, std::uint64_t client) const noexcept {
        slots_[slot].held.store(0, std::memory_order_relaxed);  // relaxed: counted only with an owner
        change_owner(slot, client, 0);
    }

    /// The records of a dead worker were returned: its slot is free. Lost: another one did the same.
    bool free(std::uint32_t slot, std::uint64_t dead) const noexcept { return change_owner(slot, dead, 0); }

    /// Wants to lock `wanted` records, none of them longer than until `deadline`; answers how many may be locked, by the cap on
    /// all workers together (0: none). What is not locked after all is settled, too.
    [[nodiscard]] std::uint32_t announce(std::uint32_t mine, std::uint32_t wanted, std::uint32_t cap, std::uint64_t deadline,
                                         std::uint64_t now) const noexcept {
        extend(mine, deadline, now);
        auto& held = slots_[mine].held;
        // release WORKER_HELD, acquire WORKER_HELD; seq_cst: of two who announce and then look, one at least sees the other
        const std::uint64_t before = held.fetch_add(wanted, std::memory_order_seq_cst);
        M::point("caps.announced");
        if (cap == 0) return wanted;
        const std::uint64_t all = before + held_by_others(mine, now);
        const std::uint32_t fits = all >= cap ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, cap - all));
        if (fits < wanted) settle(mine, wanted - fits);
        return fits;
    }

    /// So many are not held any more. After their words have changed.
    void settle(std::uint32_t mine, std::uint64_t count) const noexcept {
        slots_[mine].held.fetch_sub(count, std::memory_order_seq_cst);  // release WORKER_HELD: never before the word
    }

    /// No lock of this worker lasts longer than its last deadline: to be called before one is made that does.
    void extend(std::uint32_t mine, std::uint64_t deadline, std::uint64_t now) const noexcept {
        auto& last = slots_[mine].last_deadline;
        const std::uint64_t seen = last.load(std::memory_order_relaxed);  // relaxed, both: only its holder changes them
        // with nothing held the last one says nothing: that of a new slot, 0, may be hours ahead where the clock is about to wrap
        const bool none = slots_[mine].held.load(std::memory_order_relaxed) == 0;
        if (none || earlier(seen, deadline, now)) last.store(deadline & kClockMask, std::memory_order_seq_cst);  // release WORKER_HELD
    }

private:
    bool change_owner(std::uint32_t slot, std::uint64_t from, std::uint64_t to) const noexcept {
        // release WORKER, acquire WORKER; lost: somebody else did it; a client's word is never used again by another client
        return slots_[slot].owner.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire);
    }

    [[nodiscard]] bool take(std::uint32_t slot, std::uint64_t from, std::uint64_t client) noexcept {
        if (!change_owner(slot, from, client)) return false;
        M::point("worker.taken");
        // relaxed, all of them: what the last holder left may be counted for a moment, until its last deadline
        Slot& mine = slots_[slot];
        for (auto* word : {&mine.held, &mine.last_deadline, &mine.in_flight_max, &mine.since_ns, &mine.acquired, &mine.acked,
                           &mine.nacked, &mine.released, &mine.rejected, &mine.renewed, &mine.refused})
            word->store(0, std::memory_order_relaxed);
        return true;
    }

    [[nodiscard]] std::uint64_t held_by_others(std::uint32_t mine, std::uint64_t now) const noexcept {
        std::uint64_t all = 0;
        for (std::uint32_t slot = 0; slot < count_; ++slot) {
            if (slot == mine) continue;
            const auto& other = slots_[slot];
            const std::uint64_t held = other.held.load(std::memory_order_seq_cst);  // acquire WORKER_HELD
            // after what it announced, which shows that it took the slot: before, a worker that just joins might be missed
            if (held == 0 || owner(slot) == 0) continue;
            if (!late(other.last_deadline.load(std::memory_order_seq_cst), now)) all += held;  // acquire WORKER_HELD
        }
        return all;
    }

    Slot* slots_ = nullptr;
    std::uint32_t count_ = 0;
};

}  // namespace ringmain::work_table
