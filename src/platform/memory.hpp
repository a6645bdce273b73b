// The memory policy of the shared structures: how they touch bytes that other processes touch too.
//
// Every structure is a template over such a policy. HostMemory is what production uses; tests put a policy of their own
// in its place: checked atomics that own schedule and staleness, loads that answer with fuzzed bytes, points that kill.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/cas16.hpp"

#if defined(__SANITIZE_THREAD__)
#define RINGMAIN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RINGMAIN_TSAN 1
#endif
#endif

#if defined(RINGMAIN_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace ringmain::platform {

/// The two halves of a shared 16-byte word. Changed only whole, by M::cas16; looked at half by half.
template <class M>
struct alignas(16) Word16 {
    typename M::template Atomic<std::uint64_t> low;
    typename M::template Atomic<std::uint64_t> high;
};

/// Reads a word whose every change of `low` by somebody else than the owner of `high` also changes `high`: high, low, high
/// again; if high is the same, low belongs to it. Never a 16-byte load: that would write, or fault on read-only memory.
/// A word that changes at every look is given up as it was seen last: whoever acts on it changes exactly that word or
/// nothing.
template <class M>
[[nodiscard]] Halves load16(const Word16<M>& word) noexcept {
    constexpr int kLooksMax = 64;
    std::uint64_t high = word.high.load(std::memory_order_acquire);
    for (int look = 1;; ++look) {
        const std::uint64_t low = word.low.load(std::memory_order_acquire);
        const std::uint64_t again = word.high.load(std::memory_order_acquire);
        if (again == high || look == kLooksMax) return {low, again};
        high = again;
    }
}

struct HostMemory {
    template <class T>
    using Atomic = std::atomic<T>;

    /// A stand-alone fence. ThreadSanitizer does not model fences, so there an RMW on one word stands in for it.
    static void fence(std::memory_order order) noexcept {
#if defined(RINGMAIN_TSAN)
        static std::atomic<std::uint64_t> word{0};
        (void)order;
        word.fetch_add(1, std::memory_order_seq_cst);  // seq_cst: the strongest stand-in for any fence
#else
        std::atomic_thread_fence(order);
#endif
    }

    /// Changes a 16-byte word from `expected` to `desired` at once, or tells in `expected` what was there. acq_rel.
    template <class M>
    static bool cas16(Word16<M>& word, Halves& expected, Halves desired) noexcept {
        static_assert(sizeof word == 16 && alignof(Word16<M>) == 16 && offsetof(Word16<M>, high) == 8);
#if defined(RINGMAIN_TSAN)
        // that tool does not see the instruction: it is told the order, for the loads of each half
        __tsan_release(&word.low);
        __tsan_release(&word.high);
        const bool held = compare_exchange_16(&word, expected, desired);
        __tsan_acquire(&word.low);
        __tsan_acquire(&word.high);
        return held;
#else
        return compare_exchange_16(&word, expected, desired);
#endif
    }

    /// Copies private bytes into shared memory that a reader may be looking at (it will discard what it saw).
    static void copy_in(std::byte* shared, const void* from, std::size_t bytes) noexcept { copy(shared, from, bytes); }

    /// Copies shared bytes that a producer may be overwriting; the caller validates afterwards.
    static void copy_out(void* to, const std::byte* shared, std::size_t bytes) noexcept { copy(to, shared, bytes); }

    /// A named failure point between two steps; test policies may stop or kill here.
    static constexpr void point(const char*) noexcept {}

    // Assembly: GCC 12 takes a function of nothing but __builtin_prefetch for one without effect and drops the call, and for
    // plain x86-64 the builtin fetches for reading only. The address need not be mapped.
    static void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
        asm volatile("prefetchw (%0)" : : "r"(address));
#elif defined(__aarch64__)
        asm volatile("prfm pstl1keep, [%0]" : : "r"(address));
#endif
    }

    static void prefetch_for_read(const void* address) noexcept {
#if defined(__x86_64__)
        asm volatile("prefetcht0 (%0)" : : "r"(address));
#elif defined(__aarch64__)
        asm volatile("prfm pldl1keep, [%0]" : : "r"(address));
#endif
    }

private:
    // A plain memcpy of bytes that may change under it is a data race on paper. The compiler must neither split, repeat
    // nor reorder it around the atomics: the empty asm statements make it opaque. Under ThreadSanitizer the bytes are
    // copied by relaxed atomics, which is what the protocol means.
    static void copy(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(RINGMAIN_TSAN)
        auto* d = static_cast<std::uint8_t*>(to);
        auto* s = static_cast<const std::uint8_t*>(from);
        for (std::size_t i = 0; i < bytes; ++i) {
            // relaxed: nothing is published by payload bytes; validity comes from the cell's word and log_start
            __atomic_store_n(d + i, __atomic_load_n(s + i, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        }
#else
        asm volatile("" : : "r"(to), "r"(from) : "memory");
        if (bytes <= kSmallCopyMax) {
            copy_small(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
        } else {
            std::memcpy(to, from, bytes);
        }
        asm volatile("" : : : "memory");
#endif
    }

    static constexpr std::size_t kSmallCopyMax = 64;

    // Overlapping fixed-size moves: no call and no loop for the sizes that travel inline.
    static void copy_small(std::byte* to, const std::byte* from, std::size_t n) noexcept {
        if (n >= 32) {
            move<32>(to, from);
            move<32>(to + n - 32, from + n - 32);
        } else if (n >= 16) {
            move<16>(to, from);
            move<16>(to + n - 16, from + n - 16);
        } else if (n >= 8) {
            move<8>(to, from);
            move<8>(to + n - 8, from + n - 8);
        } else if (n >= 4) {
            move<4>(to, from);
            move<4>(to + n - 4, from + n - 4);
        } else if (n > 0) {
            to[0] = from[0];
            to[n / 2] = from[n / 2];
            to[n - 1] = from[n - 1];
        }
    }

    template <std::size_t N>
    static void move(std::byte* to, const std::byte* from) noexcept {
        __builtin_memcpy(to, from, N);
    }
};

}  // namespace ringmain::platform
