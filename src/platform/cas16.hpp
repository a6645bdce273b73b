// The one compare-and-swap of 16 bytes.
//
// Written in assembler because nothing else is safe between processes: std::atomic of 16 bytes and __atomic builtins may
// become calls of a library whose fallback is a lock private to the process, and say nothing about it; __sync builtins
// become calls where one compiler flag is missing. An instruction that is written down cannot become a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmain::platform {

/// A 16-byte word in private memory.
struct Halves {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Halves&, const Halves&) = default;
};

/// Why this machine cannot change 16 bytes at once, if it cannot. To be asked before the first cas16.
[[nodiscard]] std::optional<std::string> cas16_refused();

/// Changes the 16 bytes at `word` (aligned to 16) from `expected` to `desired`, at once, or not at all and tells in
/// `expected` what was there. A full fence either way. Writes to the line also when it fails: never for read-only memory.
inline bool compare_exchange_16(void* word, Halves& expected, Halves desired) noexcept {
#if defined(__x86_64__)
    bool held;
    asm volatile("lock cmpxchg16b %[word]"
                 : "=@ccz"(held), [word] "+m"(*static_cast<Halves*>(word)), "+a"(expected.low), "+d"(expected.high)
                 : "b"(desired.low), "c"(desired.high)
                 : "memory");
    return held;
#elif defined(__aarch64__) && defined(__ARM_FEATURE_ATOMICS)
    const Halves wanted = expected;
    register std::uint64_t low asm("x4") = expected.low;  // casp takes two pairs of neighbours
    register std::uint64_t high asm("x5") = expected.high;
    register std::uint64_t new_low asm("x6") = desired.low;
    register std::uint64_t new_high asm("x7") = desired.high;
    asm volatile("caspal %[low], %[high], %[new_low], %[new_high], %[word]"
                 : [low] "+r"(low), [high] "+r"(high), [word] "+Q"(*static_cast<Halves*>(word))
                 : [new_low] "r"(new_low), [new_high] "r"(new_high)
                 : "memory");
    expected = {low, high};
    return expected == wanted;
#elif defined(__aarch64__)
    // What differs is stored back: only a store that succeeds proves that the two loads belong together. All of it is one
    // statement, because no access to memory may stand between them: a processor may refuse the store for ever then.
    Halves seen;
    Halves to;
    std::uint32_t refused;
    asm volatile(
        "1: ldaxp %[low], %[high], %[word]\n"
        "   cmp   %[low], %[old_low]\n"
        "   ccmp  %[high], %[old_high], #0, eq\n"
        "   csel  %[to_low], %[new_low], %[low], eq\n"
        "   csel  %[to_high], %[new_high], %[high], eq\n"
        "   stlxp %w[refused], %[to_low], %[to_high], %[word]\n"
        "   cbnz  %w[refused], 1b\n"
        "   dmb   ish"
        : [low] "=&r"(seen.low), [high] "=&r"(seen.high), [to_low] "=&r"(to.low), [to_high] "=&r"(to.high),
          [refused] "=&r"(refused), [word] "+Q"(*static_cast<Halves*>(word))
        : [old_low] "r"(expected.low), [old_high] "r"(expected.high), [new_low] "r"(desired.low), [new_high] "r"(desired.high)
        : "cc", "memory");
    const bool held = seen == expected;
    expected = seen;
    return held;
#else
#error "no 16-byte compare-and-swap is known for this architecture"
#endif
}

}  // namespace ringmain::platform
