// The lease of an exclusive producer: it goes from hand to hand, and never two producers write at once.
#include "concurrency/crowd.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

TEST_CASE("An exclusive producer's records are whole for readers that follow closely") {
    Crowd crowd("one exclusive", {.records = 16, .extents = 8, .extent_bytes = 1024});
    crowd.producers = {{.detaches = 0, .deaths = 0, .exclusive = true}};
    crowd.readers = {{Reading::copy}, {Reading::visit}};
    crowd.run(scaled(20000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() == scaled(20000));
}

TEST_CASE("The lease passes between exclusive producers that leave or die, and nothing is lost") {
    Crowd crowd("lease", {.records = 32, .extents = 8, .extent_bytes = 1024, .batch_records_max = 2});
    crowd.producers = {{.detaches = 20, .deaths = 10, .exclusive = true},
                       {.detaches = 20, .deaths = 10, .exclusive = true}};
    crowd.readers = {{Reading::copy}};
    crowd.run(scaled(2000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

TEST_CASE("Shared and exclusive producers exclude each other and take turns") {
    Crowd crowd("turns", {.records = 32, .extents = 8, .extent_bytes = 1024, .batch_records_max = 2});
    crowd.producers = {{.detaches = 40, .deaths = 10},
                       {.detaches = 40, .deaths = 10},
                       {.detaches = 40, .deaths = 10, .exclusive = true}};
    crowd.readers = {{Reading::copy}};
    crowd.closers = 1;
    crowd.run(scaled(1000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

}  // namespace ringmain::test
