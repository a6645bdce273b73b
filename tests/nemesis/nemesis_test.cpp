// All of Ringmain under fire: producers, members, workers, readers, keepers and a daemon are stopped, continued and
// killed at random, a hundred times a second, and by what they noted themselves nothing is lost, doubled, invented or
// out of order.
//
// RINGMAIN_NEMESIS_SECONDS (60) makes it as long as one likes, in rounds of a minute, each with a broker of its own;
// RINGMAIN_SEED repeats the choices of a run, though not the machine's.
#include <algorithm>
#include <iostream>

#include "concurrency/seed.hpp"
#include "fire.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::nemesis;

TEST_CASE(
    "producers, members, workers, readers and keepers that are stopped and killed at 100 Hz lose, double, invent and "
    "reorder nothing") {
    constexpr std::uint64_t kRoundSeconds = 60;
    constexpr std::uint32_t kHertz = 100;
    const std::uint64_t seed = test::seed_for("nemesis");
    const std::uint64_t seconds = test::from_environment("RINGMAIN_NEMESIS_SECONDS", kRoundSeconds);
    Figures figures;
    for (std::uint64_t done = 0; done < seconds; done += kRoundSeconds) {
        const std::uint64_t round_seed = done == 0 ? seed : test::derive_seed(seed, done);
        const std::chrono::seconds round_time(std::min(kRoundSeconds, seconds - done));
        const Round round = fire(round_seed, round_time, kHertz, {}, &figures);
        INFO(round.report);
        CHECK(round.verdict.good());
        if (!round.verdict.good())
            break;
    }
    figures.print(std::cout);
    // a tenth of what is aimed at: less would be no fire
    CHECK(figures.signals >= seconds * kHertz / 10);
    CHECK(figures.kills >= seconds);
    CHECK(figures.sums.acknowledged >= 1'000 * seconds);
}
