// How the tests over lying memory are run: so many calls under so many moods, and one line of figures.
#pragma once

#include <cstdint>
#include <iostream>

#include "concurrency/seed.hpp"
#include "hostile/oracle_memory.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::uint64_t kOracleCalls = 2'400'000;
#else
inline constexpr std::uint64_t kOracleCalls = 24'000'000;
#endif

/// Far above what any call needs on what the tests give it: 16 records, a window of 16, three groups of four members.
inline constexpr std::uint64_t kAccessesBound = 20'000;

/// Lies in 256 accesses.
inline constexpr unsigned kMoods[] = {0, 3, 24, 96, 192};

/// Draws one call of several, by name.
template <class Calls>
struct OracleCall {
    const char* name;
    void (Calls::*run)();
};
template <class Calls, std::size_t Count>
void run_some(Calls& calls, const OracleCall<Calls> (&all)[Count]) {
    const OracleCall<Calls>& call = all[Oracle::random() % Count];
    Oracle::begin_call(call.name);
    (calls.*call.run)();
}

/// Makes `percent` of all calls of these tests (RINGMAIN_HOSTILE_CALLS, or kOracleCalls, twenty times as many under
/// RINGMAIN_LONG) on `what`, evenly under all moods. `make(round)` gives fresh memory with a `call()`, now and then:
/// lies end up in it, and after a while little of it makes sense.
template <class Make>
void call_under_all_moods(const char* what, std::uint64_t percent, const Make& make) {
    constexpr std::uint64_t kCallsPerMemory = 1'000;
    const std::uint64_t seed = seed_for(what);
    const std::uint64_t all =
        from_environment("RINGMAIN_HOSTILE_CALLS", kOracleCalls) * (from_environment("RINGMAIN_LONG", 0) != 0 ? 20 : 1);
    const std::uint64_t calls = all * percent / 100 / std::size(kMoods);
    std::uint64_t total = 0;
    std::uint64_t accesses_max = 0;
    for (const unsigned lies_per_256 : kMoods) {
        Oracle::begin(derive_seed(seed, lies_per_256), lies_per_256);
        for (std::uint64_t done = 0; done < calls;) {
            const auto memory = make(done / kCallsPerMemory);
            for (std::uint64_t i = 0; i < kCallsPerMemory; ++i, ++done)
                memory->call();
            total += kCallsPerMemory;
        }
        accesses_max = std::max(accesses_max, Oracle::accesses_max());
    }
    std::cout << "hostile memory, " << what << ": " << total << " calls, at most " << accesses_max
              << " accesses to shared memory in a call\n";
    CHECK(total >= calls * std::size(kMoods));
    CHECK(accesses_max < kAccessesBound);
}

}  // namespace ringmain::test
