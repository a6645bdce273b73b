// Recycling what dead and stopped producers hold. Progress never depends on it; only memory does.
//
// Everything here may be done by several processes at once and may die between any two steps: each change is one CAS from
// the exact word that was judged. Labels R1... name the rows of docs/recovery.md.
#pragma once

#include <cstdint>

#include "gate_table/gate_table.hpp"
#include "layout/clients.hpp"
#include "partition_log/cell_word.hpp"
#include "partition_log/intents.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/tickets.hpp"

namespace ringmain::recovery {

/// The lease of an exclusive producer: slot + 1 in the low 16 bits, the slot's generation above.
[[nodiscard]] constexpr std::uint64_t lease_word(std::uint32_t slot, std::uint64_t generation) noexcept {
    return (generation & partition_log::kGenerationMask) << 16 | (slot + 1);
}
[[nodiscard]] constexpr std::uint32_t lease_slot(std::uint64_t lease) noexcept {
    return static_cast<std::uint32_t>((lease & 0xffff) - 1);
}
[[nodiscard]] constexpr std::uint64_t lease_generation(std::uint64_t lease) noexcept { return lease >> 16; }

/// R1: an exclusive producer may have committed one record beyond log_end before it died: find it.
template <class M>
void recover_log_end(const partition_log::LogMemory<M>& log) noexcept {
    std::uint64_t end = log.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
    for (std::uint64_t steps = 0; steps <= log.records; ++steps) {
        const std::uint64_t word = log.cell(end).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT
        if (word != partition_log::cell_word(end, partition_log::CellState::committed)) return;
        // release TICKET; lost: somebody else recovers, or shared producers go on already: log_end only grows
        if (log.control->log_end.compare_exchange_strong(end, end + 1, std::memory_order_acq_rel, std::memory_order_acquire)) ++end;
    }
}

/// R7: notes what became of the intents of exclusive producers that are gone. A lease is taken away only behind this, so the
/// words that are judged here are still those that its holder left.
template <class M, class IsDead>
void settle_exclusive_intents(const partition_log::LogMemory<M>& log, const IsDead& is_dead) noexcept {
    const std::uint32_t used = partition_log::names_used(log);
    for (std::uint32_t i = 0; i < used; ++i) {
        auto& hold = log.named[i].hold;
        const std::uint64_t owner = hold.high.load(std::memory_order_acquire);  // acquire NAME
        const std::uint64_t intent = hold.low.load(std::memory_order_acquire);  // acquire INTENT
        if (partition_log::intent_state(intent) != partition_log::IntentState::exclusive || owner == 0 || !is_dead(owner)) continue;
        platform::Halves expected{intent, owner};
        const std::uint64_t outcome = partition_log::outcome_of(log, intent);
        M::point("lease.judged");
        // release INTENT; lost: others settled it. A successor may intend the same offset: but it is another owner, so no ABA
        (void)M::cas16(hold, expected, {outcome, owner});
    }
}

/// R2: takes the lease away from a holder that is gone. True if the lease `lease` is not held any more.
template <class M, class IsDead>
bool recover_lease(const partition_log::LogMemory<M>& log, std::uint64_t lease, const IsDead& is_dead) noexcept {
    const std::uint32_t slot = lease_slot(lease);
    if (slot < log.producer_slots) {
        const auto& entry = log.producers[slot];
        const std::uint64_t owner = entry.owner.load(std::memory_order_acquire);  // acquire ENTRY
        const bool same_tenure =
            (entry.generation.load(std::memory_order_acquire) & partition_log::kGenerationMask) == lease_generation(lease);
        if (layout::has_begun(owner) && same_tenure && !is_dead(owner)) return false;
    }
    recover_log_end(log);
    settle_exclusive_intents(log, is_dead);
    M::point("lease.recovered");
    // release LEASE; lost: somebody else took it away; a lease word is unique to one tenure, so there is no ABA
    log.control->lease.compare_exchange_strong(lease, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
    return true;
}

/// R3: seals the extents of a dead producer's tenure. Returns how many.
template <class M>
std::uint64_t seal_extents(const partition_log::LogMemory<M>& log, std::uint32_t slot, std::uint64_t generation) noexcept {
    const std::uint64_t owned = partition_log::owned_extent(slot, generation);
    std::uint64_t sealed = 0;
    for (std::uint32_t i = 0; i < log.extent_count; ++i) {
        std::uint64_t expected = owned;
        if (log.extents[i].word.load(std::memory_order_acquire) != owned) continue;  // acquire EXTENT
        // log_end after the death: above everything the dead committed
        const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
        // release EXTENT; lost: another keeper sealed it; an owned word is unique to one tenure, so there is no ABA
        if (log.extents[i].word.compare_exchange_strong(expected, partition_log::sealed_extent(end), std::memory_order_acq_rel,
                                                        std::memory_order_relaxed)) {
            ++sealed;
        }
    }
    return sealed;
}

/// R4: frees the slot of a producer that is proven dead: lease, extents, slot, in this order. True if it is free of
/// `owner` afterwards.
template <class M, class IsDead>
bool reap_producer(const partition_log::LogMemory<M>& log, std::uint32_t slot, std::uint64_t owner, const IsDead& is_dead,
                   std::uint64_t* sealed = nullptr) noexcept {
    auto& entry = log.producers[slot];
    // before the proof: the generation of exactly this owner's tenure (it never changes once the owner is dead)
    if (!is_dead(layout::client_of(owner))) return false;
    const std::uint64_t generation = entry.generation.load(std::memory_order_acquire);  // acquire ENTRY
    if (entry.owner.load(std::memory_order_acquire) != owner) return true;              // acquire ENTRY: reaped by others
    const std::uint64_t lease = log.control->lease.load(std::memory_order_acquire);     // acquire LEASE
    if (lease != 0 && lease_slot(lease) == slot) recover_lease(log, lease, is_dead);
    const std::uint64_t extents = seal_extents(log, slot, generation);
    if (sealed != nullptr) *sealed += extents;
    M::point("reap.sealed");
    std::uint64_t expected = owner;
    // release ENTRY; lost: another keeper was first; an owner word is unique to one life of a client, so there is no ABA
    if (entry.owner.compare_exchange_strong(expected, 0, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        log.control->reaped_producers.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
    }
    return true;
}

/// Reaps every producer of the partition that is proven dead. Returns how many.
template <class M, class IsDead>
std::uint64_t reap_producers(const partition_log::LogMemory<M>& log, const IsDead& is_dead, std::uint64_t* sealed = nullptr) noexcept {
    std::uint64_t reaped = 0;
    for (std::uint32_t slot = 0; slot < log.producer_slots; ++slot) {
        const std::uint64_t owner = log.producers[slot].owner.load(std::memory_order_acquire);  // acquire ENTRY
        if (owner != 0 && reap_producer(log, slot, owner, is_dead, sealed)) ++reaped;
    }
    return reaped;
}

/// For callers that need no more than the number.
struct IgnoreGate {
    void operator()(std::uint32_t /*index*/, std::uint64_t /*owner*/) const noexcept {}
};

/// R6: ends the gates of holders that are proven dead. Returns how many; `reaped_gate(index, owner)` is called for each.
template <class M, class IsDead, class Reaped = IgnoreGate>
std::uint64_t reap_gates(const partition_log::LogMemory<M>& log, const IsDead& is_dead, const Reaped& reaped_gate = {}) noexcept {
    gate_table::GateTable<M> gates(log.readers);
    std::uint64_t reaped = 0;
    for (std::uint32_t index = 0; index < layout::kGatesMax; ++index) {
        const std::uint64_t owner = gates.owner(index);
        if (owner == 0 || !is_dead(layout::client_of(owner)) || !gates.reap(index, owner)) continue;
        ++reaped;
        reaped_gate(index, owner);
    }
    return reaped;
}

/// Whether a live producer may still write the bytes of the cell of `offset`. A dead one cannot.
template <class M, class IsDead>
[[nodiscard]] bool may_have_late_writer(const partition_log::LogMemory<M>& log, std::uint64_t offset, const IsDead& is_dead) noexcept {
    for (std::uint32_t slot = 0; slot < log.producer_slots; ++slot) {
        const auto& entry = log.producers[slot];
        const std::uint64_t owner = entry.owner.load(std::memory_order_acquire);  // acquire ENTRY
        if (!layout::has_begun(owner)) continue;  // its ticket is the last owner's
        const std::uint64_t ticket = entry.ticket.load(std::memory_order_acquire);  // acquire ENTRY
        if (ticket == partition_log::kIdle || is_dead(owner)) continue;
        if (ticket == partition_log::kTaking) return true;
        const std::uint64_t first = ticket >> 2;
        const std::uint64_t count = entry.count.load(std::memory_order_acquire);  // acquire ENTRY
        if (((offset - first) & (log.records - 1)) < count) return true;
    }
    return false;
}

/// R5: releases the quarantined cell at `index` if it can have no late writer. Returns whether it was released; `waiting`
/// is set if it has to wait.
template <class M, class IsDead>
bool release_cell(const partition_log::LogMemory<M>& log, std::uint64_t index, const IsDead& is_dead, bool& waiting) noexcept {
    auto& word = log.cell_at(index).word;
    std::uint64_t seen = word.load(std::memory_order_acquire);  // acquire TICKET_CLOSE: the entries are read after it
    if (partition_log::state_of(seen) != partition_log::CellState::quarantined) return false;
    const std::uint64_t offset = partition_log::offset_of(seen);
    if (may_have_late_writer(log, offset, is_dead)) {
        waiting = true;
        return false;
    }
    M::point("release.judged");
    // release CELL_RELEASE; exactly the word that was judged: if a later ticket was closed meanwhile, judge anew
    if (!word.compare_exchange_strong(seen, partition_log::cell_word(offset, partition_log::CellState::released),
                                      std::memory_order_acq_rel, std::memory_order_relaxed)) {
        waiting = true;
        return false;
    }
    log.control->released_cells.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
    return true;
}

}  // namespace ringmain::recovery
