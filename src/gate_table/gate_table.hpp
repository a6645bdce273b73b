// Gates: readers that hold the log start of a block topic back.
//
// A gate is one word {offset, held}. It gates by existing, not by its holder's being alive; when the holder is proven dead
// it is dropped (recovery). The race between a gate that begins and a mover of log_start is decided by gate_floor: the gate
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
            const std::uint64_t word = readers_->gates[i].word.load(std::memory_order_acquire);  // acquire GATE
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
            if (!readers_->gates[i].owner.compare_exchange_strong(free, owner, std::memory_order_acq_rel,
                                                                  std::memory_order_relaxed)) {
                continue;
            }
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
            M::point("gate.written");
            // the gate's store before the look at the floor; pairs with the fence in advance_start
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
        readers_->gates[index].owner.store(0, std::memory_order_release);  // release GATE: the word is clear
    }

    /// Frees the entry of a holder that is proven dead. Several may try at once: the one that takes the entry over does it.
    /// `me`: the caller's own client word; if the caller dies in here, the entry is reaped from it in turn.
    bool reap(std::uint32_t index, std::uint64_t dead_owner, std::uint64_t me) noexcept {
        std::uint64_t expected = dead_owner;
        // lost: somebody else reaps; an owner word is unique to one life of a client, so there is no ABA
        if (!readers_->gates[index].owner.compare_exchange_strong(expected, me, std::memory_order_acq_rel,
                                                                  std::memory_order_relaxed)) {
            return false;
        }
        M::point("gate.taken_over");
        drop(index);
        return true;
    }

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
