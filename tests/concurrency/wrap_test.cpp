// The same crowds with first offsets where a narrow counter, a signed comparison or a shift too far would show.
#include <initializer_list>
#include <string>

#include "concurrency/crowd.hpp"
#include "concurrency/group_crowd.hpp"
#include "concurrency/work_crowd.hpp"
#include "ringmain/topic_options.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

constexpr std::uint64_t kBefore = 300;  // the run passes the boundary soon after its start

const std::initializer_list<std::uint64_t> kFirstOffsets = {
    (std::uint64_t{1} << 31) - kBefore,
    (std::uint64_t{1} << 32) - kBefore,
    (std::uint64_t{1} << 48) - kBefore,
    kFirstOffsetMax - kBefore,
    kFirstOffsetMax,
    (std::uint64_t{1} << 32) - 7,
};

// Members commit little each: they come to the boundary earlier.
const std::initializer_list<std::uint64_t> kFirstPositions = {
    (std::uint64_t{1} << 31) - 30, (std::uint64_t{1} << 32) - 30, (std::uint64_t{1} << 48) - 30,
    kFirstOffsetMax - 30,          (std::uint64_t{1} << 32) - 7,
};

}  // namespace

TEST_CASE("Overwriting logs pass 2^31, 2^32, 2^48 and 2^61 unharmed") {
    for (const std::uint64_t first : kFirstOffsets) {
        Crowd crowd("overwrite from " + std::to_string(first),
                    {.records = 32, .extents = 8, .extent_bytes = 1024, .batch_records_max = 2, .first_offset = first});
        crowd.producers = {{}, {.batches = 60, .large = 50}};
        crowd.readers = {{Reading::copy}};
        crowd.closers = 1;
        crowd.run(scaled(1500));
        CHECK(crowd.faults() == std::vector<std::string>{});
        CHECK(crowd.log().end() > first);
    }
}

TEST_CASE("Gated block logs pass 2^31, 2^32, 2^48 and 2^61 unharmed") {
    for (const std::uint64_t first : kFirstOffsets) {
        Crowd crowd("block from " + std::to_string(first),
                    {.records = 32, .extents = 8, .extent_bytes = 1024, .first_offset = first, .block = true});
        crowd.producers = {{}, {}};
        crowd.gated = {{.drops = 5, .deaths = 5}, {.drops = 0, .deaths = 0}};
        crowd.run(scaled(1200));
        CHECK(crowd.faults() == std::vector<std::string>{});
        CHECK(crowd.log().end() > first);
    }
}

TEST_CASE("Exclusive producers pass 2^31, 2^32, 2^48 and 2^61 unharmed") {
    for (const std::uint64_t first : kFirstOffsets) {
        Crowd crowd("exclusive from " + std::to_string(first),
                    {.records = 16, .extents = 8, .extent_bytes = 1024, .first_offset = first});
        crowd.producers = {{.detaches = 10, .deaths = 5, .exclusive = true},
                           {.detaches = 10, .deaths = 5, .exclusive = true}};
        crowd.readers = {{Reading::copy}};
        crowd.run(scaled(1500));
        CHECK(crowd.faults() == std::vector<std::string>{});
        CHECK(crowd.log().end() > first);
    }
}

TEST_CASE("Groups commit, hand over and are reset across 2^31, 2^32, 2^48 and 2^61 unharmed") {
    for (const std::uint64_t first : kFirstPositions) {
        GroupCrowd crowd("group from " + std::to_string(first), false, first);
        crowd.wrong_evictions = true;
        crowd.deaths = 10;
        crowd.resets = 20;
        crowd.run(scaled(1500));
        CHECK(crowd.faults() == std::vector<std::string>{});
        CHECK(crowd.commits() > 0);
    }
}

TEST_CASE("Gating groups hold, are let go and return across 2^31, 2^32, 2^48 and 2^61") {
    for (const std::uint64_t first : kFirstPositions) {
        GroupCrowd crowd("gating group from " + std::to_string(first), true, first);
        crowd.wrong_evictions = true;
        crowd.deaths = 10;
        crowd.run(scaled(1500));
        CHECK(crowd.faults() == std::vector<std::string>{});
        CHECK(crowd.commits() > 0);
    }
}

TEST_CASE("Queues finish every record once across 2^31, 2^32, 2^48 and 2^61, retention and letters beside them") {
    for (const std::uint64_t first : kFirstOffsets) {
        for (const bool block : {true, false}) {
            WorkShape shape;
            shape.log = {.records = 32, .producer_slots = 4, .first_offset = first, .block = block};
            shape.letters = {.records = std::uint64_t{1} << 12, .producer_slots = 8, .first_offset = (std::uint64_t{1} << 32) - 20};
            shape.window = 16;
            shape.workers = 6;
            shape.gating = block;
            shape.rules.lock_ms = 20;
            shape.rules.backoff_first_ms = 2;
            shape.rules.backoff_max_ms = 10;
            WorkCrowd crowd((block ? "queue from " : "queue and retention from ") + std::to_string(first), shape);
            crowd.deaths = 10;
            crowd.retention = block ? 0 : 20;
            crowd.run(scaled(800));
            CHECK(crowd.faults() == std::vector<std::string>{});
            CHECK(crowd.acked() > 0);
        }
    }
}

}  // namespace ringmain::test
