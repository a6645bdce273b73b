// The locks that a worker holds, by its own account. No allocation after construction.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ringmain/queue.hpp"

namespace ringmain {

/// A hash table with linear probing, never more than half full.
class HeldLocks {
public:
    /// `most`: locks held at a time.
    explicit HeldLocks(std::size_t most) : slots_(std::bit_ceil(2 * most)), mask_(slots_.size() - 1) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Adds the lock, or puts it in the place of the last one of the same record. Requires room for it.
    void put(const Lock& lock) noexcept {
        Slot& slot = slots_[find(lock.partition, lock.offset)];
        if (!slot.used) ++size_;
        slot = {lock, true};
    }

    /// False: it was not there.
    bool erase(const Lock& lock) noexcept {
        std::size_t hole = find(lock.partition, lock.offset);
        if (!slots_[hole].used) return false;
        --size_;
        // what was pushed on past the hole moves back into it
        for (std::size_t at = (hole + 1) & mask_; slots_[at].used; at = (at + 1) & mask_) {
            const std::size_t home = home_of(slots_[at].lock.partition, slots_[at].lock.offset);
            if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole].used = false;
        return true;
    }

    /// All locks, in no order. A copy: what `use` does may change the table.
    template <class Wanted>
    [[nodiscard]] std::vector<Lock> all(const Wanted& wanted) const {
        std::vector<Lock> found;
        for (const Slot& slot : slots_) {
            if (slot.used && wanted(slot.lock)) found.push_back(slot.lock);
        }
        return found;
    }

private:
    struct Slot {
        Lock lock;
        bool used = false;
    };

    [[nodiscard]] std::size_t home_of(std::uint32_t partition, std::uint64_t offset) const noexcept {
        return static_cast<std::size_t>((offset * 0x9e3779b97f4a7c15 ^ partition * 0xbf58476d1ce4e5b9) >> 20) & mask_;
    }
    /// Where the record's lock is, or where it would be.
    [[nodiscard]] std::size_t find(std::uint32_t partition, std::uint64_t offset) const noexcept {
        std::size_t at = home_of(partition, offset);
        while (slots_[at].used && (slots_[at].lock.offset != offset || slots_[at].lock.partition != partition)) at = (at + 1) & mask_;
        return at;
    }

    std::vector<Slot> slots_;
    std::size_t mask_;
    std::size_t size_ = 0;
};

}  // namespace ringmain
