// Consumer groups: whoever joins, leaves, dies, is evicted or reset, every tenure begins where the one before ended.
#include "concurrency/crowd.hpp"
#include "concurrency/group_crowd.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

TEST_CASE("Members that join, leave and are evicted wrongly hand over exactly at what was committed") {
    GroupCrowd crowd("group members", false);
    crowd.wrong_evictions = true;
    crowd.run(scaled(40'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.commits() > 0);
}

TEST_CASE("Members that die anywhere, and an operator that resets, break no promise") {
    GroupCrowd crowd("group deaths and resets", false);
    crowd.wrong_evictions = true;
    crowd.deaths = 20;
    crowd.resets = 200;
    crowd.run(scaled(40'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.commits() > 0);
}

TEST_CASE("Generations that wrap in the middle of everything are generations like others") {
    GroupCrowd crowd("group generations that wrap", false);
    crowd.wrong_evictions = true;
    crowd.deaths = 20;
    crowd.first_generation = ~std::uint32_t{0} - 20;
    crowd.run(scaled(20'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
}

TEST_CASE("The log start never passes what a gating group was told that it holds") {
    GroupCrowd crowd("gating group", true);
    crowd.wrong_evictions = true;
    crowd.deaths = 10;
    crowd.run(scaled(40'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.commits() > 0);
    CHECK(crowd.returns() > 0);
}

TEST_CASE("The judge of group histories finds what is wrong with one") {
    const TenureHistory sound{0, 2, false, 5, 9, 7, {9}};
    const std::array<std::uint32_t, 4> none{};
    const auto faults = [&](std::vector<TenureHistory> all) { return judge_tenures(all, none).size() - 4; };
    CHECK(faults({sound, {0, 3, false, 9, 9, 9}}) == 0);
    CHECK(faults({sound, {0, 3, false, 7, 9, 9}}) == 0);
    CHECK(faults({sound, {0, 3, false, 8, 9, 9}}) == 1);   // begins where nobody ended
    CHECK(faults({sound, {0, 3, false, 5, 9, 9}}) == 2);   // and below a commit
    CHECK(faults({sound, {0, 3, true, 1, 1, 1}}) == 0);    // a reset goes anywhere
    CHECK(faults({sound, sound}) == 1);                    // two owners
    CHECK(faults({{0, 2, false, 5, 9, 10}}) == 1);         // more than was handed out
    CHECK(faults({{0, 2, false, 5, 9, 4}}) == 1);          // backwards
}

}  // namespace ringmain::test
