// Attaching producers to a partition: slots for shared ones, a lease for an exclusive one; each excludes the other.
//
// Both announce themselves, fence, and then look for the other (Dekker): at least one of two that come together sees the
// other and steps back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "partition_log/cell_word.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/log_memory.hpp"
#include "recovery/recovery.hpp"

namespace ringmain::recovery {

enum class AttachOutcome : std::uint8_t {
    attached,
    full,           // every slot belongs to a producer that is not proven dead
    exclusive,      // a live exclusive producer holds the lease
    shared,         // live shared producers are attached
    corrupt,        // log_end contradicts log_start or the cells
};

struct Attached {
    AttachOutcome outcome = AttachOutcome::full;
    std::uint32_t slot = 0;          // attached: the own slot; exclusive, shared: the slot of who is in the way
    std::uint64_t generation = 0;
};

/// `is_dead(owner word)`: true only if that client is proven dead.
template <class M, class IsDead>
class Attachment {
public:
    Attachment(const partition_log::LogMemory<M>& log, std::uint64_t owner, const IsDead& is_dead) noexcept
        : log_(log), owner_(owner), is_dead_(is_dead) {}

    /// Dying in here leaves a slot with a dead owner, which anybody reaps.
    [[nodiscard]] Attached attach_shared() noexcept {
        Attached attached = claim_slot();
        if (attached.outcome != AttachOutcome::attached) return attached;
        // the slot's owner before the look at the lease; pairs with attach_exclusive
        M::fence(std::memory_order_seq_cst);
        if (const std::uint64_t lease = live_lease(); lease != 0) {
            detach(attached.slot);
            return {AttachOutcome::exclusive, lease_slot(lease), 0};
        }
        if (!partition_log::check_control(log_).sound() || partition_log::end_is_taken(log_)) {
            detach(attached.slot);
            return {AttachOutcome::corrupt, attached.slot, 0};
        }
        return attached;
    }

    [[nodiscard]] Attached attach_exclusive() noexcept {
        Attached attached = claim_slot();
        if (attached.outcome != AttachOutcome::attached) return attached;
        std::uint64_t holder = live_lease();
        // release LEASE; lost: another exclusive producer has it, and `holder` is its lease
        if (holder != 0 || !log_.control->lease.compare_exchange_strong(
                               holder, lease_word(attached.slot, attached.generation), std::memory_order_acq_rel,
                               std::memory_order_acquire)) {
            detach(attached.slot);
            return {AttachOutcome::exclusive, lease_slot(holder), 0};
        }
        M::point("attach.leased");
        // the lease before the look at the slots; pairs with attach_shared
        M::fence(std::memory_order_seq_cst);
        if (const auto other = other_live_producer(attached.slot)) {
            log_.control->lease.store(0, std::memory_order_release);  // release LEASE
            detach(attached.slot);
            return {AttachOutcome::shared, *other, 0};
        }
        if (!partition_log::check_control(log_).sound() || cells_are_ahead()) {
            give_back_lease();
            detach(attached.slot);
            return {AttachOutcome::corrupt, attached.slot, 0};
        }
        decide_open_tickets();
        return attached;
    }

    /// Gives the slot back. Requires that nothing is held or reserved. A lease must be given back first.
    void detach(std::uint32_t slot) noexcept {
        log_.producers[slot].ticket.store(partition_log::kIdle, std::memory_order_release);  // release ENTRY
        log_.producers[slot].owner.store(0, std::memory_order_release);      // release ENTRY
    }

    void give_back_lease() noexcept { log_.control->lease.store(0, std::memory_order_release); }  // release LEASE

private:
    [[nodiscard]] Attached claim_slot() noexcept {
        for (int pass = 0; pass < 2; ++pass) {
            for (std::uint32_t slot = 0; slot < log_.producer_slots; ++slot) {
                std::uint64_t free = 0;
                // acquire ENTRY: what the slot's last owner did; lost: somebody else has it
                if (log_.producers[slot].owner.compare_exchange_strong(free, owner_ | layout::kOwnerBegins, std::memory_order_acq_rel,
                                                                       std::memory_order_relaxed)) {
                    return {AttachOutcome::attached, slot, begin_tenure(slot)};
                }
            }
            if (pass == 0) reap_producers(log_, is_dead_);
        }
        return {AttachOutcome::full, 0, 0};
    }

    std::uint64_t begin_tenure(std::uint32_t slot) noexcept {
        auto& entry = log_.producers[slot];
        M::point("attach.claimed");
        const std::uint64_t generation = entry.generation.load(std::memory_order_relaxed) + 1;  // relaxed: only the owner writes
        entry.generation.store(generation, std::memory_order_release);  // release ENTRY: before any extent names it
        entry.ticket.store(partition_log::kIdle, std::memory_order_release);           // release ENTRY
        entry.owner.store(owner_, std::memory_order_release);  // release ENTRY: from here on the ticket is the owner's
        return generation;
    }

    /// The lease's word if its holder is not proven dead; recovers what a dead one left.
    [[nodiscard]] std::uint64_t live_lease() noexcept {
        const std::uint64_t lease = log_.control->lease.load(std::memory_order_acquire);  // acquire LEASE
        if (lease == 0 || recover_lease(log_, lease, is_dead_)) return 0;
        return lease;
    }

    [[nodiscard]] std::optional<std::uint32_t> other_live_producer(std::uint32_t mine) noexcept {
        for (std::uint32_t slot = 0; slot < log_.producer_slots; ++slot) {
            if (slot == mine) continue;
            const std::uint64_t owner = log_.producers[slot].owner.load(std::memory_order_acquire);  // acquire ENTRY
            if (owner != 0 && !reap_producer(log_, slot, owner, is_dead_)) return slot;
        }
        return std::nullopt;
    }

    /// A cell names an offset that log_end has not reached, although nobody publishes: log_end has been set back.
    [[nodiscard]] bool cells_are_ahead() const noexcept {
        const std::uint64_t end = log_.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
        for (std::uint64_t index = 0; index < log_.records; ++index) {
            const std::uint64_t word = log_.cell_at(index).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
            if (word != 0 && partition_log::offset_of(word) >= end) return true;
        }
        return false;
    }

    /// All other producers are gone: what they left open is closed now, since nobody closes for an exclusive producer.
    void decide_open_tickets() noexcept {
        const std::uint64_t end = log_.control->log_end.load(std::memory_order_acquire);      // acquire TICKET
        const std::uint64_t start = log_.control->log_start.load(std::memory_order_acquire);  // acquire LOG_START
        // a lap at most, whatever the two words say
        const std::uint64_t back = std::min(end - log_.first_offset, log_.records);  // older tickets are decided with these
        for (std::uint64_t offset = std::max(start, end - back); offset < end; ++offset) {
            if (!partition_log::decided(log_.cell(offset).word.load(std::memory_order_acquire), offset)) (void)partition_log::close_ticket(log_, offset);
        }
    }

    partition_log::LogMemory<M> log_;
    std::uint64_t owner_;
    const IsDead& is_dead_;
};

}  // namespace ringmain::recovery
