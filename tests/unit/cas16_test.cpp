// The 16-byte compare-and-swap, and reading such a word by halves.
#include <atomic>
#include <thread>
#include <vector>

#include "platform/memory.hpp"
#include "support/catch.hpp"

using namespace ringmain::platform;

TEST_CASE("this machine has the 16-byte compare-and-swap") { CHECK_FALSE(cas16_refused()); }

TEST_CASE("cas16 changes both halves, or nothing and tells what is there") {
    Word16<HostMemory> word{};
    Halves expected{0, 0};
    CHECK(HostMemory::cas16(word, expected, {1, 2}));
    CHECK(load16(word) == Halves{1, 2});
    for (const Halves wrong : {Halves{1, 3}, Halves{0, 2}, Halves{7, 7}}) {
        expected = wrong;
        CHECK_FALSE(HostMemory::cas16(word, expected, {9, 9}));
        CHECK(expected == Halves{1, 2});
        CHECK(load16(word) == Halves{1, 2});
    }
    CHECK(HostMemory::cas16(word, expected, {~0ULL, ~0ULL}));
    CHECK(load16(word) == Halves{~0ULL, ~0ULL});
}

TEST_CASE("of many threads that count with cas16 none loses a step, and no reader sees halves of two moments") {
    constexpr std::uint64_t kSteps = 20'000;
    Word16<HostMemory> word{};
    std::atomic<std::uint64_t> torn{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            for (std::uint64_t step = 0; step < kSteps; ++step) {
                Halves seen = load16(word);
                while (!HostMemory::cas16(word, seen, {~(seen.high + 1), seen.high + 1})) {
                }
            }
        });
    }
    threads.emplace_back([&] {
        for (std::uint64_t step = 0; step < kSteps; ++step) {
            const Halves seen = load16(word);
            if (seen.high != 0 && seen.low != ~seen.high) torn.fetch_add(1, std::memory_order_relaxed);
        }
    });
    for (std::thread& thread : threads) thread.join();
    CHECK(load16(word).high == 3 * kSteps);
    CHECK(torn.load(std::memory_order_relaxed) == 0);
}
