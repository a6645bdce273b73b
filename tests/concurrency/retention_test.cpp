// Retention and deletions on request beside everybody else: what goes is told to readers, what a gate holds stays.
#include <chrono>

#include "concurrency/crowd.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

using namespace std::chrono_literals;

TEST_CASE("Producers publish while retention deletes by age, records and bytes, and readers lose nothing that is not reported") {
    Crowd crowd("retention, overwrite", {.records = 64, .extents = 8, .extent_bytes = 2048, .batch_records_max = 4});
    crowd.producers = {{.batches = 50}, {.large = 50}, {}};
    crowd.readers = {{Reading::copy}, {Reading::visit}};
    crowd.retention = {1s, 40, 2000};
    crowd.closers = 1;
    crowd.run(scaled(5000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
    CHECK(crowd.log().start() > 64);
}

TEST_CASE("Gates hold their records against retention and deletions, whoever comes, goes and dies") {
    Crowd crowd("retention, gates", {.records = 64, .extents = 8, .extent_bytes = 1024, .block = true});
    crowd.producers = {{}, {}};
    crowd.gated = {{.drops = 20, .deaths = 5}, {.drops = 5, .deaths = 20}};
    crowd.readers = {{Reading::copy}};
    crowd.retention = {100ms, 10, 0};
    crowd.deleters = 2;
    crowd.run(scaled(3000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

TEST_CASE("Deletions on request race with producers that overwrite") {
    Crowd crowd("deletions", {.records = 16, .extents = 8, .extent_bytes = 1024});
    crowd.producers = {{}, {}};
    crowd.readers = {{Reading::copy}, {Reading::visit}};
    crowd.deleters = 2;
    crowd.run(scaled(4000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

}  // namespace ringmain::test
