// A memory policy whose shared memory lies: a load may answer anything, an exchange may fail or hold as it likes.
//
// Only the memory lies; it is still there. Whatever the structures read or write outside of it is for AddressSanitizer
// to see. Accesses are counted, so that a call that does not come to its end is noticed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/cas16.hpp"

namespace ringmain::test {

/// Decides what the memory answers, for the one thread that uses it.
class Oracle {
public:
    /// How often it lies, in 1/256 of the accesses.
    static void begin(std::uint64_t seed, unsigned lies_per_256) noexcept;
    /// The accesses of the call `name` begin to count.
    static void begin_call(const char* name) noexcept {
        call_ = name;
        accesses_ = 0;
    }
    [[nodiscard]] static std::uint64_t accesses() noexcept { return accesses_; }
    /// The most that any call has needed since `begin`.
    [[nodiscard]] static std::uint64_t accesses_max() noexcept { return accesses_max_; }

    /// True if the memory lies this time.
    static bool lies() noexcept;
    static std::uint64_t random() noexcept;
    /// A word instead of `truth`: noise, a neighbour of the truth, another state of the same offset, a limit, ...
    static std::uint64_t lie(std::uint64_t truth) noexcept;
    static void distort(std::byte* bytes, std::size_t count) noexcept;

private:
    static inline std::uint64_t state_ = 1;
    static inline const char* call_ = "";
    static inline std::uint64_t accesses_ = 0;
    static inline std::uint64_t accesses_max_ = 0;
    static inline std::uint64_t last_lie_ = 0;
    static inline unsigned lies_per_256_ = 0;
};

struct OracleMemory {
    template <class T>
    class Atomic {
    public:
        T load(std::memory_order) const noexcept { return seen(); }
        void store(T value, std::memory_order) noexcept { value_ = value; }
        T exchange(T value, std::memory_order) noexcept { return changed(value); }
        T fetch_add(T value, std::memory_order) noexcept { return changed(value_ + value); }
        T fetch_sub(T value, std::memory_order) noexcept { return changed(value_ - value); }
        T fetch_or(T value, std::memory_order) noexcept { return changed(value_ | value); }
        T fetch_and(T value, std::memory_order) noexcept { return changed(value_ & value); }

        bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) noexcept {
            if (Oracle::lies() && (Oracle::random() & 1) != 0) {
                value_ = desired;  // holds, whatever was there
                return true;
            }
            const T found = seen();
            if (found == expected) {
                value_ = desired;
                return true;
            }
            expected = found;
            return false;
        }
        bool compare_exchange_strong(T& expected, T desired, std::memory_order order) noexcept {
            return compare_exchange_strong(expected, desired, order, order);
        }
        bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                                   std::memory_order failure) noexcept {
            return compare_exchange_strong(expected, desired, success, failure);
        }

    private:
        T seen() const noexcept { return Oracle::lies() ? static_cast<T>(Oracle::lie(value_)) : value_; }
        T changed(T to) noexcept {
            const T before = seen();
            value_ = to;
            return before;
        }

        T value_;
    };

    /// Holds or fails as it likes, like every exchange here.
    template <class Word>
    static bool cas16(Word& word, platform::Halves& expected, platform::Halves desired) noexcept {
        platform::Halves found{word.low.load(std::memory_order_acquire), word.high.load(std::memory_order_acquire)};
        const bool lies = Oracle::lies() && (Oracle::random() & 1) != 0;
        if (lies || found == expected) {
            word.low.store(desired.low, std::memory_order_release);
            word.high.store(desired.high, std::memory_order_release);
            return true;
        }
        expected = found;
        return false;
    }

    static void fence(std::memory_order) noexcept {}
    static void copy_in(std::byte* shared, const void* from, std::size_t bytes) noexcept {
        std::memcpy(shared, from, bytes);
    }
    static void copy_out(void* to, const std::byte* shared, std::size_t bytes) noexcept {
        std::memcpy(to, shared, bytes);
        if (bytes != 0 && Oracle::lies())
            Oracle::distort(static_cast<std::byte*>(to), bytes);
    }
    static void point(const char*) noexcept {}
    static void prefetch_for_write(const void*) noexcept {}
};

}  // namespace ringmain::test
