// Work queues: whoever fails, forgets, is late or dies, every record is finished once.
#include "concurrency/crowd.hpp"
#include "concurrency/work_crowd.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

WorkShape crowd_shape() {
    WorkShape shape;
    shape.log = {.records = 64, .block = true};
    shape.letters = {.records = std::uint64_t{1} << 16, .producer_slots = 8};
    shape.window = 64;
    shape.workers = 6;
    shape.gating = true;
    shape.rules.lock_ms = 20;
    shape.rules.backoff_first_ms = 2;
    shape.rules.backoff_max_ms = 10;
    shape.log.producer_slots = 4;
    return shape;
}

}  // namespace

TEST_CASE("Workers that ack, fail, forget and come too late finish every record once") {
    WorkCrowd crowd("queue workers", crowd_shape());
    crowd.run(scaled(10'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.acked() > 0);
    CHECK(crowd.dead_lettered() > 0);
}

TEST_CASE("Workers that die anywhere lose no record and double no letter") {
    WorkCrowd crowd("queue deaths", crowd_shape());
    crowd.deaths = 20;
    crowd.run(scaled(10'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.ended_lives() > 0);
    CHECK(crowd.dead_lettered() > 0);
}

TEST_CASE("A narrow window in which every word is used again and again finishes every record once") {
    WorkShape shape = crowd_shape();
    shape.window = 4;
    WorkCrowd crowd("queue of a narrow window", shape);
    crowd.deaths = 20;
    crowd.run(scaled(3'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
}

TEST_CASE("Retention that takes unfinished records loses each once, and tells it") {
    WorkShape shape = crowd_shape();
    shape.log.block = false;
    shape.gating = false;
    WorkCrowd crowd("queue and retention", shape);
    crowd.retention = 20;
    crowd.run(scaled(10'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.lost() > 0);
}

TEST_CASE("Retention and deaths together: every record is acked, dead or lost") {
    WorkShape shape = crowd_shape();
    shape.log.block = false;
    shape.gating = false;
    WorkCrowd crowd("queue, retention and deaths", shape);
    crowd.retention = 20;
    crowd.deaths = 20;
    crowd.run(scaled(10'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
}

TEST_CASE("Workers never hold more together than their queue's cap, and never stop for it") {
    WorkShape shape = crowd_shape();
    shape.rules.in_flight_max = 7;
    shape.rules.lock_ms = 1'000'000;
    WorkCrowd crowd("queue with a cap", shape);
    crowd.forgetful = false;
    crowd.run(scaled(10'000));
    CHECK(crowd.faults() == std::vector<std::string>{});
    CHECK(crowd.in_hand_max() <= 7);
    CHECK(crowd.in_hand_max() > 1);
}

}  // namespace ringmain::test
