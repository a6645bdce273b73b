// Room on block topics: the check with its slack, who moves the log start, and what never passes a gate.
#include <string>
#include <vector>

#include "partition_log/publisher.hpp"

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using test::HookedMemory;
using test::PlainLog;
using test::PlainShape;

namespace {

using Log = PlainLog<HookedMemory>;
using Publisher = SharedPublisher<HookedMemory>;
using Gates = gate_table::GateTable<HookedMemory>;

PlainShape block_shape() {
    PlainShape shape;
    shape.block = true;
    return shape;
}

std::uint32_t hold_at(const Log& plain, std::uint64_t offset) {
    Gates gates(plain.log.readers);
    const auto gate = gates.claim(1, "reader");
    REQUIRE(gate);
    REQUIRE(gates.hold(*gate, offset, plain.log.control->gate_floor) == offset);
    return *gate;
}

std::uint64_t publish_until_full(Publisher& publisher) {
    std::uint64_t count = 0;
    while (publisher.publish(test::parts_of("x")).status == Status::ok) {
        ++count;
        REQUIRE(count < 1000);
    }
    return count;
}

}  // namespace

TEST_CASE("a block topic is full when its ring less the slack is full") {
    Log plain(block_shape());
    const std::uint32_t gate = hold_at(plain, 0);
    Publisher publisher(plain.log, 0, 1);
    CHECK(publish_until_full(publisher) == 16 - 4);
    CHECK(plain.ticket(0) == kIdle);
    CHECK(plain.start() == 0);
    Gates(plain.log.readers).move(gate, 3);
    CHECK(publish_until_full(publisher) == 3);
    CHECK(plain.start() == 3);
}

TEST_CASE("the slack is enough when every producer passed its room check before the others took their tickets") {
    Log plain(block_shape());
    hold_at(plain, 0);
    std::vector<Publisher> publishers;
    for (std::uint32_t slot = 0; slot < 4; ++slot)
        publishers.emplace_back(plain.log, slot, 1);
    for (int i = 0; i < 11; ++i)
        REQUIRE(publishers[0].publish(test::parts_of("x")).status == Status::ok);
    // one place is left; each of four finds it free before any takes a ticket
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
        std::uint64_t start_seen = 0;
        REQUIRE(has_room(plain.log, start_seen));
    }
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
        Tickets<HookedMemory> tickets(plain.log, slot);
        const std::uint64_t offset = tickets.take();
        REQUIRE(offset < plain.start() + 16);
        const auto claim = tickets.claim(tickets.cell(offset), offset);
        REQUIRE(claim.mine);
        tickets.write_cell(tickets.cell(offset), test::parts_of("y"), kInCell);
        REQUIRE(tickets.commit(tickets.cell(offset), offset, claim.from));
        tickets.idle();
    }
    CHECK(plain.end() == 15);
    CHECK(publishers[1].publish(test::parts_of("x")).status == Status::would_block);
    for (std::uint64_t o = 0; o < 15; ++o)
        REQUIRE(test::read_back(plain.log, o).found == Found::record);
}

TEST_CASE("a block topic without gates drops the oldest records and never blocks") {
    Log plain(block_shape());
    Publisher publisher(plain.log, 0, 1);
    for (int i = 0; i < 100; ++i)
        REQUIRE(publisher.publish(test::parts_of("x")).status == Status::ok);
    CHECK(plain.end() == 100);
    CHECK(plain.end() - plain.start() <= 12);
    CHECK(plain.log.control->gate_floor.load(std::memory_order_acquire) == plain.start());
}

TEST_CASE("the lowest of several gates holds the log start, and the answer names it") {
    Log plain(block_shape());
    Publisher publisher(plain.log, 0, 1);
    for (int i = 0; i < 10; ++i)
        REQUIRE(publisher.publish(test::parts_of("x")).status == Status::ok);
    hold_at(plain, 7);
    const std::uint32_t lowest = hold_at(plain, 2);
    hold_at(plain, 5);
    const StartMoved moved = advance_start(plain.log, 9);
    CHECK(moved.start == 2);
    CHECK(moved.gate == lowest);
    CHECK(plain.start() == 2);
    Gates(plain.log.readers).drop(lowest);
    CHECK(advance_start(plain.log, 9).start == 5);
    CHECK(advance_start(plain.log, 4).start == 5);
    CHECK_FALSE(advance_start(plain.log, 4).gate);
}

TEST_CASE("an open ticket one lap behind cannot make a block topic drop what a gate holds") {
    Log plain(block_shape());
    Tickets<HookedMemory> sleeper(plain.log, 1);
    Publisher publisher(plain.log, 0, 1);
    const std::uint64_t open = sleeper.take();
    const std::uint32_t gate = hold_at(plain, open + 1);
    CHECK(publish_until_full(publisher) == 12);  // up to 13 - 1 = 12 behind the start at 1
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    Gates(plain.log.readers).move(gate, 8);
    CHECK(publish_until_full(publisher) > 0);
    CHECK(plain.start() <= 8);
    for (std::uint64_t o = 8; o < plain.end(); ++o)
        REQUIRE(test::read_back(plain.log, o).found != Found::lapped);
}

TEST_CASE("a full block topic takes no ticket and leaves nothing behind") {
    Log plain(block_shape());
    hold_at(plain, 0);
    Publisher publisher(plain.log, 0, 1);
    publish_until_full(publisher);
    const std::uint64_t end = plain.end();
    for (int i = 0; i < 100; ++i)
        REQUIRE(publisher.publish(test::parts_of("x")).status == Status::would_block);
    CHECK(plain.end() == end);
    CHECK(plain.quarantined_cells() == 0);
}

TEST_CASE("control words that contradict each other end in would_block, never in a hang") {
    Log plain(block_shape());
    const std::uint64_t hostile = GENERATE(1ULL << 20, 1ULL << 62, ~0ULL);
    plain.log.control->log_start.store(hostile, std::memory_order_release);
    Publisher publisher(plain.log, 0, 1);
    CHECK(publish_until_full(publisher) <= 16);
}
