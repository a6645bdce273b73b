// All roles at once on one overwriting log of a few cells: producers of every habit, readers that copy and readers that
// look in place, closers without patience, keepers that die.
#include <vector>

#include "concurrency/crowd.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

TEST_CASE("Shared producers on an overwriting log lose, tear, repeat and reorder nothing") {
    Crowd crowd("shared producers", {.records = 16, .extents = 8, .extent_bytes = 1024});
    crowd.producers = {{}, {}, {}};
    crowd.readers = {{Reading::copy}, {Reading::visit}};
    crowd.run(scaled(6000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

TEST_CASE("Batches of shared producers keep their order while closers interfere") {
    Crowd crowd("batches", {.records = 64, .extents = 8, .extent_bytes = 4096, .batch_records_max = 4});
    crowd.producers = {{.batches = 90}, {.batches = 90}, {.batches = 50, .large = 60}};
    crowd.readers = {{Reading::copy}, {Reading::copy}};
    crowd.closers = 1;
    crowd.run(scaled(8000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

TEST_CASE("Closers that close at random cost offsets and no record") {
    Crowd crowd("random closers", {.records = 16, .extents = 8, .extent_bytes = 1024});
    crowd.producers = {{.deaths = 0}, {.deaths = 0}};
    crowd.readers = {{Reading::copy}};
    crowd.closers = 2;
    crowd.run(scaled(6000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() == 2 * scaled(6000));
}

TEST_CASE("Producers that come, go and die all the time leave the log whole") {
    Crowd crowd("comers and goers", {.records = 32, .producer_slots = 4, .extents = 8, .extent_bytes = 1024});
    crowd.producers = {{.detaches = 30, .deaths = 10}, {.detaches = 30, .deaths = 10}, {.detaches = 30, .deaths = 10}};
    crowd.readers = {{Reading::copy}, {Reading::visit}};
    crowd.closers = 1;
    crowd.keepers = 2;
    crowd.run(scaled(4000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.deaths() > 0);
}

TEST_CASE("Loans and large records survive laps of the extents") {
    Crowd crowd("loans", {.records = 32, .extents = 8, .extent_bytes = 2048, .batch_records_max = 2});
    crowd.producers = {{.loans = 60, .large = 90}, {.batches = 50, .loans = 40, .large = 90}};
    crowd.readers = {{Reading::copy}, {Reading::visit}};
    crowd.run(scaled(4000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acknowledged() > 0);
}

}  // namespace ringmain::test
