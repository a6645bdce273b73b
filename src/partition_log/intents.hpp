// What named producers may be committing right now, so that the last sequence in the log is known exactly, always.
//
// A named producer that dies between its commit and the note that it made it leaves an intent: "perhaps `sequence` at offset o".
// The word of o's cell tells whether it did, until the ticket one lap later takes the cell. So whoever is about to use cells of
// a lap again first settles the intents for their offsets (pass_previous_lap, once per chunk of log_start):
//
//   named producer                                       whoever writes, gives up or closes o + N
//     intent = o                                           log_start > o (moved, or seen moved)
//     fence                                                fence
//     log_start > o?  give the ticket up, begin anew       intent o?  decide the ticket o, note what became of it
//     commit at o                                          use the cell
//
// One of the two sees the other, so a record of a named producer is never overwritten before its sequence is noted. What the
// producer may have done at an offset that was passed before it looked is nothing: it gives that ticket up.
//
// Exclusive producers hold no ticket that could be closed; the intent of a dead one is settled while its lease still keeps
// everybody else away (recovery.hpp, R7).
#pragma once

#include <algorithm>
#include <cstdint>

#include "partition_log/cell_word.hpp"
#include "partition_log/log_memory.hpp"

namespace ringmain::partition_log {

enum class IntentState : std::uint64_t {
    none = 0,       // only in the word 0
    shared = 1,     // a shared producer may commit at the offset
    exclusive = 2,  // the holder of the lease may
    committed = 3,  // it did
};
[[nodiscard]] constexpr std::uint64_t intent_word(std::uint64_t offset, IntentState state) noexcept {
    return offset << 2 | static_cast<std::uint64_t>(state);
}
[[nodiscard]] constexpr IntentState intent_state(std::uint64_t word) noexcept { return static_cast<IntentState>(word & 3); }

/// Names in use. The count is input.
template <class M>
[[nodiscard]] std::uint32_t names_used(const LogMemory<M>& log) noexcept {
    // acquire NAME: each entry's id
    const std::uint64_t used = log.control->names.load(std::memory_order_acquire);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(used, layout::kProducerNamesMax));
}

/// One attempt to close the open ticket `offset` whose cell's word is `seen`. True: closed here. False: `seen` is the word that
/// was found instead. Requires that the lap before was passed, and its intents settled.
template <class M>
bool close_passed(const LogMemory<M>& log, std::uint64_t offset, std::uint64_t& seen) noexcept {
    // before the CAS, so that a kill in between cannot hide a quarantined cell from the keeper
    log.control->closings.fetch_add(1, std::memory_order_relaxed);  // relaxed: a hint
    M::point("close.announced");
    // release TICKET_CLOSE (log_start), acquire TICKET_CLOSE: what the cell's last holder wrote; lost: decided, or another closer
    const bool closed = log.cell(offset).word.compare_exchange_strong(
        seen, cell_word(offset, CellState::quarantined), std::memory_order_acq_rel, std::memory_order_acquire);
    if (closed) log.control->closed_tickets.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
    log.control->closings_done.fetch_add(1, std::memory_order_relaxed);               // relaxed: a hint
    return closed;
}

/// The intent as it is to be noted: committed or none.
template <class M>
[[nodiscard]] std::uint64_t outcome_of(const LogMemory<M>& log, std::uint64_t intent) noexcept {
    const std::uint64_t offset = offset_of(intent);
    const std::uint64_t word = log.cell(offset).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
    return word == cell_word(offset, CellState::committed) ? intent_word(offset, IntentState::committed) : 0;
}

/// Notes what became of a shared intent's offset, which is decided or was used again. If it was used again while the intent stood,
/// nothing was committed there (above).
template <class M>
void note_outcome(const LogMemory<M>& log, typename LogMemory<M>::Named& entry, std::uint64_t intent) noexcept {
    const std::uint64_t outcome = outcome_of(log, intent);
    M::point("intent.judged");
    // release INTENT; lost: the producer went on, or another settled it. An offset is intended once: no ABA
    entry.hold.low.compare_exchange_strong(intent, outcome, std::memory_order_acq_rel, std::memory_order_relaxed);
}

/// The named entry with the lowest shared intent in [from, below), or null.
template <class M>
[[nodiscard]] typename LogMemory<M>::Named* lowest_intent(const LogMemory<M>& log, std::uint64_t from, std::uint64_t below,
                                                          std::uint64_t& intent) noexcept {
    typename LogMemory<M>::Named* lowest = nullptr;
    const std::uint32_t used = names_used(log);
    for (std::uint32_t i = 0; i < used; ++i) {
        const std::uint64_t word = log.named[i].hold.low.load(std::memory_order_acquire);  // acquire INTENT
        if (intent_state(word) != IntentState::shared) continue;
        if (offset_of(word) < from || offset_of(word) >= below) continue;
        if (lowest != nullptr && offset_of(word) >= offset_of(intent)) continue;
        lowest = &log.named[i];
        intent = word;
    }
    return lowest;
}

/// Settles all intents below `start`, lowest first: closing a ticket takes the word of the one a lap before. Requires
/// log_start >= start.
template <class M>
[[gnu::noinline]] void settle_intents(const LogMemory<M>& log, std::uint64_t start) noexcept {
    // log_start before the look at the intents; pairs with NamedPublisher. What it does not see gives its ticket up
    M::fence(std::memory_order_seq_cst);
    std::uint64_t intent = 0;
    std::uint64_t from = 0;
    for (std::uint32_t i = 0; i < layout::kProducerNamesMax; ++i) {
        auto* const entry = lowest_intent(log, from, start, intent);
        if (entry == nullptr) return;
        const std::uint64_t offset = offset_of(intent);
        std::uint64_t seen = log.cell(offset).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
        while (!decided(seen, offset) && !close_passed(log, offset, seen)) {
        }
        note_outcome(log, *entry, intent);
        from = offset + 1;
    }
}

}  // namespace ringmain::partition_log
