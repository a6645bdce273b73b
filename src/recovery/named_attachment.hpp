// A producer's name in a partition: finding or making its entry, taking it over after proof of death, and the last sequence.
//
// One producer holds a name at a time. A holder that is stopped is not gone: whoever wants its name is refused, because it might
// wake up and commit. So the ticket of a holder whose name is taken over can only be the ticket of a dead one.
#pragma once

#include <cstdint>
#include <string_view>

#include "group_table/shared_text.hpp"
#include "partition_log/intents.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/log_start.hpp"
#include "partition_log/tickets.hpp"

namespace ringmain::recovery {

enum class NameOutcome : std::uint8_t {
    claimed,
    held,       // by a producer that is not proven dead
    full,       // kProducerNamesMax other names
    collision,  // another name has the same id
    corrupt,    // the intent contradicts the log
};

struct ClaimedName {
    NameOutcome outcome = NameOutcome::full;
    std::uint32_t entry = 0;
    std::uint64_t holder = 0;  // held: whose it is
};

/// `is_dead(owner word)`: true only if that client is proven dead. Attach to the partition first: that recovers a lease.
template <class M, class IsDead>
class NamedAttachment {
public:
    NamedAttachment(const partition_log::LogMemory<M>& log, std::uint64_t owner, const IsDead& is_dead) noexcept
        : log_(log), owner_(owner), is_dead_(is_dead) {}

    /// Requires 1..kProducerNameBytesMax bytes, and their id. Afterwards `last` of the entry is exact and there is no intent.
    /// Dying in here leaves an entry with a dead owner, which the next one takes over.
    [[nodiscard]] ClaimedName claim(std::string_view name, std::uint64_t id) noexcept {
        ClaimedName claimed = find(id);
        if (claimed.outcome != NameOutcome::claimed) return claimed;
        auto& entry = log_.named[claimed.entry];
        if (!own(entry, claimed.holder)) return {NameOutcome::held, claimed.entry, claimed.holder};
        M::point("name.owned");
        if (!write_or_compare(entry, name)) {
            claimed.outcome = NameOutcome::collision;
        } else if (!fold(entry)) {
            claimed.outcome = NameOutcome::corrupt;
        }
        if (claimed.outcome != NameOutcome::claimed) give_back(claimed.entry);
        return claimed;
    }

    /// Requires that nothing is being published.
    void give_back(std::uint32_t entry) noexcept { log_.named[entry].hold.high.store(0, std::memory_order_release); }  // release NAME

private:
    /// Entries are given out in order and for ever, so that all who look for an id find the same one.
    [[nodiscard]] ClaimedName find(std::uint64_t id) noexcept {
        for (std::uint32_t i = 0; i < layout::kProducerNamesMax; ++i) {
            std::uint64_t found = log_.named[i].id.load(std::memory_order_acquire);  // acquire NAME
            // release NAME; lost: another name was first, or another producer of this one
            if (found == 0 && log_.named[i].id.compare_exchange_strong(found, id, std::memory_order_acq_rel, std::memory_order_acquire)) {
                found = id;
            }
            if (found != id) continue;
            M::point("name.found");
            // release NAME: before the first intent, so that whoever settles intents looks at this entry
            partition_log::raise(log_.control->names, i + 1, std::memory_order_acq_rel);
            return {NameOutcome::claimed, i, 0};
        }
        return {NameOutcome::full, 0, 0};
    }

    [[nodiscard]] bool own(typename partition_log::LogMemory<M>::Named& entry, std::uint64_t& holder) noexcept {
        holder = entry.hold.high.load(std::memory_order_acquire);  // acquire NAME
        if (holder != 0 && !is_dead_(holder)) return false;
        // release NAME; lost: another one was first. A client's word is never used again after its death, so there is no ABA
        return entry.hold.high.compare_exchange_strong(holder, owner_, std::memory_order_acq_rel, std::memory_order_acquire);
    }

    /// The first owner writes the name; one that died in the middle left no length. False: it is another name.
    [[nodiscard]] static bool write_or_compare(typename partition_log::LogMemory<M>::Named& entry, std::string_view name) noexcept {
        const std::uint64_t length = entry.name_length.load(std::memory_order_acquire);  // acquire NAME
        if (length != 0) return length == name.size() && group_table::same_text(entry.name, name);
        group_table::write_text(entry.name, name);
        entry.name_length.store(name.size(), std::memory_order_release);  // release NAME: after the name
        return true;
    }

    /// Decides what the last owner may have left, and brings `last` up to it. False: no sound log has such an intent.
    [[nodiscard]] bool fold(typename partition_log::LogMemory<M>::Named& entry) noexcept {
        using partition_log::IntentState;
        std::uint64_t intent = entry.hold.low.load(std::memory_order_acquire);  // acquire INTENT
        if (partition_log::intent_state(intent) == IntentState::shared) {
            const std::uint64_t offset = partition_log::offset_of(intent);
            if (offset >= log_.control->log_end.load(std::memory_order_acquire)) return false;  // acquire TICKET
            if (partition_log::close_ticket(log_, offset) == partition_log::Decision::impossible) return false;
            partition_log::note_outcome(log_, entry, intent);
            intent = entry.hold.low.load(std::memory_order_acquire);  // acquire INTENT
        }
        if (intent == 0) return true;
        if (partition_log::intent_state(intent) != IntentState::committed) return false;
        M::point("name.folding");
        entry.last.store(entry.sequence.load(std::memory_order_acquire), std::memory_order_release);  // acquire INTENT, release INTENT
        M::point("name.folded");
        entry.hold.low.store(0, std::memory_order_release);  // release INTENT
        return true;
    }

    partition_log::LogMemory<M> log_;
    std::uint64_t owner_;
    const IsDead& is_dead_;
};

}  // namespace ringmain::recovery
