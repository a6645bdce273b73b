// Gates: readers that hold the log start of a block topic back.
//
// A gate is one word {offset, held}, and its owner. It gates by existing, not by its holder's being alive; when the holder
// is proven dead, one compare-and-swap of the owner ends it (recovery): there is no half-reaped gate. What that leaves in
// the word means nothing, because the next owner has not begun before it has written its own. The race between a gate that begins and a mover of log_start is decided by gate_floor: the gate
// is written first, then compared with the floor; the mover announces the floor first, then looks at the gates again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "layout/readers.hpp"

namespace ringmain::gate_table {

struct LowestGate {
    std::uint64_t offset = 0;
    std::optional<std::uint32_t> index;  // nothing: no gate is held
};

template <class M>
class GateTable {
public:
    using Readers = layout::ReaderBlock<M>;
    using Entry = layout::GateEntry<M>;

    explicit GateTable(Readers* readers) noexcept : readers_(readers) {}

    [[nodiscard]] static constexpr std::uint64_t held_at(std::uint64_t offset) noexcept { return offset << 1 | 1; }
    [[nodiscard]] static constexpr bool held(std::uint64_t word) noexcept { return (word & 1) != 0; }
    [[nodiscard]] static constexpr std::uint64_t offset_of(std::uint64_t word) noexcept { return word >> 1; }

    /// The lowest gate that is held.
    [[nodiscard]] LowestGate lowest() const noexcept {
        LowestGate lowest;
        for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
            // the owner first: one that has begun has written the word
            if (!layout::has_begun(readers_->gates[i].owner.load(std::memory_order_acquire))) continue;  // acquire GATE
            const std::uint64_t word = readers_->gates[i].word.load(std::memory_order_acquire);          // acquire GATE
            if (!held(word)) continue;
            if (!lowest.index || offset_of(word) < lowest.offset) lowest = {offset_of(word), i};
        }
        return lowest;
    }

    /// Takes a free entry for `owner`, not gating yet. Nothing if all are taken.
    [[nodiscard]] std::optional<std::uint32_t> claim(std::uint64_t owner, std::string_view name) noexcept {
        for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
            std::uint64_t free = 0;
            // lost: another reader has the entry; an owner word is unique to one life of a client, so there is no ABA
            if (!readers_->gates[i].owner.compare_exchange_strong(free, owner | layout::kOwnerBegins,
                                                                  std::memory_order_acq_rel,
                                                                  std::memory_order_relaxed)) {
                continue;
            }
            M::point("gate.claimed");
            write_name(readers_->gates[i], name);
            return i;
        }
        return std::nullopt;
    }

    /// Begins to gate at `offset`, or at the floor if log_start may already move there. From the return on, nothing at or
    /// above the returned offset is dropped. Only the entry's holder may call it.
    template <class Floor>
    std::uint64_t hold(std::uint32_t index, std::uint64_t offset, const Floor& gate_floor) noexcept {
        for (;;) {
            readers_->gates[index].word.store(held_at(offset), std::memory_order_release);  // release GATE
            begin(readers_->gates[index]);
            M::point("gate.written");
            // the gate's stores before the look at the floor; pairs with the fence in advance_start
            M::fence(std::memory_order_seq_cst);
            const std::uint64_t floor = gate_floor.load(std::memory_order_acquire);  // acquire GATE_FLOOR
            if (floor <= offset) return offset;
            offset = floor;
        }
    }

    /// Moves a gate forward: the holder is done with everything below `offset`.
    void move(std::uint32_t index, std::uint64_t offset) noexcept {
        // release GATE: the holder's reads end before log_start passes
        readers_->gates[index].word.store(held_at(offset), std::memory_order_release);
    }

    /// Stops gating and gives the entry back. Only the holder may call it.
    void drop(std::uint32_t index) noexcept {
        readers_->gates[index].word.store(0, std::memory_order_release);   // release GATE
        readers_->gates[index].owner.store(0, std::memory_order_release);  // release GATE: the holder's reads ended
    }

    /// Ends the gate of a holder that is proven dead, and frees its entry: one step. Several may try at once.
    /// `dead_owner`: as owner() answered.
    bool reap(std::uint32_t index, std::uint64_t dead_owner) noexcept {
        // lost: somebody else reaped it; an owner word is unique to one life of a client, so there is no ABA
        return readers_->gates[index].owner.compare_exchange_strong(dead_owner, 0, std::memory_order_acq_rel,
                                                                    std::memory_order_relaxed);
    }

    /// The owner word; layout::client_of tells whom it names.
    [[nodiscard]] std::uint64_t owner(std::uint32_t index) const noexcept {
        return readers_->gates[index].owner.load(std::memory_order_acquire);  // acquire GATE
    }
    [[nodiscard]] std::uint64_t word(std::uint32_t index) const noexcept {
        return readers_->gates[index].word.load(std::memory_order_acquire);  // acquire GATE
    }

    /// For people; a name that is being written may come out mixed.
    [[nodiscard]] std::string name(std::uint32_t index) const {
        char text[sizeof(std::uint64_t) * kNameWords + 1] = {};
        for (std::size_t i = 0; i < kNameWords; ++i) {
            const std::uint64_t word = readers_->gates[index].name[i].load(std::memory_order_relaxed);  // relaxed: for show
            std::memcpy(text + i * sizeof word, &word, sizeof word);
        }
        return text;
    }

private:
    static constexpr std::size_t kNameWords = 8;

    static void begin(Entry& entry) noexcept {
        const std::uint64_t owner = entry.owner.load(std::memory_order_relaxed);  // relaxed: the holder's own store
        if (layout::has_begun(owner)) return;
        entry.owner.store(layout::client_of(owner), std::memory_order_release);  // release GATE: the word is the holder's
    }

    static void write_name(Entry& entry, std::string_view name) noexcept {
        char text[sizeof(std::uint64_t) * kNameWords] = {};
        std::memcpy(text, name.data(), name.size() < layout::kGateNameMax ? name.size() : layout::kGateNameMax);
        for (std::size_t i = 0; i < kNameWords; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, text + i * sizeof word, sizeof word);
            entry.name[i].store(word, std::memory_order_relaxed);  // relaxed: for show
        }
    }

    Readers* readers_;
};

}  // namespace ringmain::gate_table
