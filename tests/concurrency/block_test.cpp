// Readers that gate a block log: what they hold is kept for them, whoever comes, goes, moves or dies.
#include "concurrency/crowd.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

TEST_CASE("A block log keeps every record for a gate that never drops") {
    Crowd crowd("one faithful gate",
                {.records = 32, .extents = 8, .extent_bytes = 1024, .batch_records_max = 2, .block = true});
    crowd.producers = {{.deaths = 0}, {.deaths = 0}};
    crowd.gated = {{.drops = 0, .deaths = 0}};
    crowd.closers = 1;
    crowd.run(scaled(6000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() == 2 * scaled(6000));
}

TEST_CASE("Gates that come, move, drop and die keep what they hold") {
    Crowd crowd("many gates", {.records = 32, .extents = 8, .extent_bytes = 1024, .block = true});
    crowd.producers = {{}, {}, {}};
    crowd.gated = {{.drops = 20, .deaths = 5}, {.drops = 50, .deaths = 5}, {.drops = 5, .deaths = 50}};
    crowd.readers = {{Reading::copy}};
    crowd.keepers = 2;
    crowd.run(scaled(3000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

TEST_CASE("A block log without gates drops its oldest records and reports them") {
    Crowd crowd("no gates", {.records = 16, .extents = 8, .extent_bytes = 1024, .block = true});
    crowd.producers = {{}, {}};
    crowd.readers = {{Reading::copy}, {Reading::visit}};
    crowd.run(scaled(5000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

}  // namespace ringmain::test
