// Every structure over memory that lies: each call comes to its end, touches nothing but the memory it was given, and
// answers with one of its answers.
#include <array>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "concurrency/seed.hpp"
#include "hostile/oracle_calls.hpp"
#include "hostile/oracle_memory.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

constexpr std::uint64_t kAccessesBound = 20'000;  // far above what any call needs on 16 cells

struct Mood {
    const char* name;
    unsigned lies_per_256;
    bool block;
    std::uint64_t first_offset;
};

// Fresh memory now and then: lies end up in it, too, and after a while little of it makes sense.
std::uint64_t run(const Mood& mood, std::uint64_t seed, std::uint64_t calls) {
    constexpr std::uint64_t kCallsPerLog = 2'000;
    Oracle::begin(seed, mood.lies_per_256);
    std::uint64_t done = 0;
    while (done < calls) {
        OracleCalls log({.records = 16,
                         .extents = 8,
                         .extent_bytes = 1024,
                         .batch_records_max = 2,
                         .first_offset = mood.first_offset,
                         .block = mood.block},
                        seed + done);
        for (std::uint64_t i = 0; i < kCallsPerLog; ++i, ++done) {
            log.call();
        }
    }
    return done;
}

}  // namespace

TEST_CASE("No structure can be made to loop or to touch foreign memory by what its memory answers") {
    const std::uint64_t seed = seed_for("oracle");
    const std::uint64_t calls = from_environment("RINGMAIN_HOSTILE_CALLS", 250'000);
    const std::array moods = {Mood{"a liar", 192, false, 0}, Mood{"now and then, block", 24, true, 0},
                              Mood{"rarely", 3, false, std::uint64_t{1} << 32},
                              Mood{"a liar, block", 128, true, std::uint64_t{1} << 61},
                              Mood{"half the time", 96, false, 1000}};
    std::uint64_t total = 0;
    for (const Mood& mood : moods) {
        total += run(mood, derive_seed(seed, mood.lies_per_256), calls);
        std::cout << mood.name << ": at most " << Oracle::accesses_max() << " accesses to shared memory in a call\n";
        CHECK(Oracle::accesses_max() < kAccessesBound);
    }
    std::cout << "hostile memory: " << total << " calls\n";
    CHECK(total >= 5 * calls);
}

}  // namespace ringmain::test
