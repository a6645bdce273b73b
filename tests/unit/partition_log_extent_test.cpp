// Extents: large bodies, the change from one extent to the next, sealing, reuse, and extents that gates hold.
#include "partition_log/extents.hpp"

#include <string>

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

PlainShape extent_shape(bool block = false) {
    PlainShape shape;
    shape.records = 64;
    shape.producer_slots = 2;
    shape.extents = 4;
    shape.block = block;
    return shape;
}

std::string large(std::uint64_t id, std::size_t bytes = 400) { return std::to_string(id) + std::string(bytes, '#'); }

std::uint32_t count_state(const Log& plain, ExtentState state) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < plain.log.extent_count; ++i) {
        const std::uint64_t word = plain.extent(i);
        const bool free = word == 0;
        count += (free ? ExtentState::free : extent_state(word)) == state ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST_CASE("a large record lies in an extent that names its owner's tenure") {
    Log plain(extent_shape());
    Publisher publisher(plain.log, 1, 7);
    const std::string value = large(0);
    REQUIRE(publisher.publish(test::parts_of(value)).status == Status::ok);
    CHECK(plain.extent(1) == owned_extent(1, 7));
    CHECK(count_state(plain, ExtentState::owned) == 1);
    CHECK(test::read_back(plain.log, 0).value == value);
}

TEST_CASE("a full extent is sealed with one more than its last committed offset") {
    Log plain(extent_shape());
    Publisher publisher(plain.log, 0, 1);
    for (std::uint64_t i = 0; i < 3; ++i)
        REQUIRE(publisher.publish(test::parts_of(large(i))).status == Status::ok);
    CHECK(plain.extent(0) == sealed_extent(2));  // two to an extent
    CHECK(plain.extent(1) == owned_extent(0, 1));
}

TEST_CASE("an extent from which nothing was committed is free at once") {
    Log plain(extent_shape());
    Publisher publisher(plain.log, 0, 1);
    const Reserved reserved = publisher.bodies().reserve(500);
    REQUIRE(reserved.status == Status::ok);
    publisher.bodies().seal();
    CHECK(plain.extent(0) == 0);
}

TEST_CASE("a sealed extent is reused after the log start has passed its records") {
    Log plain(extent_shape());
    Publisher publisher(plain.log, 0, 1);
    for (std::uint64_t i = 0; i < 60; ++i) {
        const std::string value = large(i);
        REQUIRE(publisher.publish(test::parts_of(value)).status == Status::ok);
        for (std::uint64_t o = plain.start(); o <= i; ++o)
            REQUIRE(test::read_back(plain.log, o).value == large(o));
    }
    CHECK(plain.start() >= 60 - 8);  // four extents hold eight records; readers were told of the others
    CHECK(test::read_back(plain.log, plain.start() - 1).found != Found::nothing);
}

TEST_CASE("the oldest sealed extent is taken first") {
    Log plain(extent_shape());
    plain.log.control->log_end.store(40, std::memory_order_release);
    plain.log.extents[0].word.store(sealed_extent(30), std::memory_order_release);
    plain.log.extents[1].word.store(sealed_extent(20), std::memory_order_release);
    plain.log.extents[2].word.store(owned_extent(1, 1), std::memory_order_release);
    plain.log.extents[3].word.store(sealed_extent(25), std::memory_order_release);
    ExtentWriter<HookedMemory> writer(plain.log, 0, 1);
    REQUIRE(writer.change());
    CHECK(plain.extent(1) == owned_extent(0, 1));
    CHECK(plain.start() == 20);
}

TEST_CASE("an extent that another producer takes first is left to it") {
    Log plain(extent_shape());
    plain.log.control->log_end.store(40, std::memory_order_release);
    for (std::uint32_t i = 0; i < 4; ++i)
        plain.log.extents[i].word.store(sealed_extent(10 + i), std::memory_order_release);
    ExtentWriter<HookedMemory> writer(plain.log, 0, 1);
    const HookedMemory::Scope scope(HookedMemory::once_at(
        "extent.taking", [&] { plain.log.extents[0].word.store(owned_extent(1, 1), std::memory_order_release); }));
    REQUIRE(writer.change());
    CHECK(plain.extent(0) == owned_extent(1, 1));
    CHECK(plain.extent(1) == owned_extent(0, 1));
}

TEST_CASE("an extent sealed beyond the log end is damage and is not taken") {
    Log plain(extent_shape());
    for (std::uint32_t i = 0; i < 4; ++i)
        plain.log.extents[i].word.store(sealed_extent(1000), std::memory_order_release);
    Publisher publisher(plain.log, 0, 1);
    const std::string value = large(0);
    CHECK(publisher.publish(test::parts_of(value)).status == Status::corrupt);
    CHECK(plain.start() == 0);
}

TEST_CASE("a producer without any extent left says so and publishes small records all the same") {
    Log plain(extent_shape());
    for (std::uint32_t i = 0; i < 4; ++i)
        plain.log.extents[i].word.store(owned_extent(1, 1), std::memory_order_release);
    Publisher publisher(plain.log, 0, 1);
    const std::string value = large(0);
    CHECK(publisher.publish(test::parts_of(value)).status == Status::exhausted);
    CHECK(plain.end() == 0);
    CHECK(publisher.publish(test::parts_of("small")).status == Status::ok);
}

TEST_CASE("on a block topic a gate holds full extents until it moves") {
    Log plain(extent_shape(true));
    gate_table::GateTable<HookedMemory> gates(plain.log.readers);
    const auto gate = gates.claim(1, "slow");
    REQUIRE(gate);
    gates.hold(*gate, 0, plain.log.control->gate_floor);
    Publisher publisher(plain.log, 0, 1);
    std::uint64_t count = 0;
    std::string value = large(0);
    while (publisher.publish(test::parts_of(value)).status == Status::ok)
        value = large(++count);
    CHECK(count == 8);
    CHECK(publisher.publish(test::parts_of(value)).status == Status::would_block);
    CHECK(plain.start() == 0);
    for (std::uint64_t o = 0; o < count; ++o)
        REQUIRE(test::read_back(plain.log, o).value == large(o));
    gates.move(*gate, 1);
    CHECK(publisher.publish(test::parts_of(value)).status == Status::would_block);  // half an extent is not enough
    gates.move(*gate, 2);
    CHECK(publisher.publish(test::parts_of(value)).status == Status::ok);
    CHECK(plain.start() == 2);
}

TEST_CASE("a publish that is refused takes no space in the extent") {
    PlainShape shape = extent_shape(true);
    shape.records = 16;
    Log plain(shape);
    gate_table::GateTable<HookedMemory> gates(plain.log.readers);
    const auto gate = gates.claim(1, "slow");
    REQUIRE(gate);
    gates.hold(*gate, 0, plain.log.control->gate_floor);
    Publisher publisher(plain.log, 0, 1);
    while (publisher.publish(test::parts_of("small")).status == Status::ok) {
    }
    const std::string value = large(0);
    for (int i = 0; i < 20; ++i)
        REQUIRE(publisher.publish(test::parts_of(value)).status == Status::would_block);
    for (std::uint32_t i = 0; i < plain.log.extent_count; ++i) {
        CHECK(plain.log.extents[i].word.load(std::memory_order_relaxed) == 0);
    }
}

TEST_CASE("a loan pins its extent: nothing may seal it until the loan is over") {
    Log plain(extent_shape());
    Publisher publisher(plain.log, 0, 1);
    BodyWriter<HookedMemory>& bodies = publisher.bodies();
    const Reserved loan = bodies.reserve(700);
    REQUIRE(loan.status == Status::ok);
    bodies.pin();
    const std::string value = large(0);
    CHECK(publisher.publish(test::parts_of(value)).status == Status::loan_outstanding);
    CHECK(publisher.publish(test::parts_of("small")).status == Status::ok);
    bodies.give_back(loan.location, 700);
    bodies.unpin();
    CHECK(publisher.publish(test::parts_of(value)).status == Status::ok);
    CHECK(plain.extent(0) == owned_extent(0, 1));
}

TEST_CASE("a loan is published from where it was filled") {
    Log plain(extent_shape());
    Publisher publisher(plain.log, 0, 1);
    const std::string value = large(1, 500);
    const Reserved loan = publisher.bodies().reserve(value.size());
    REQUIRE(loan.status == Status::ok);
    HookedMemory::copy_in(plain.log.payload + loan.location, value.data(), value.size());
    RecordParts parts = test::parts_of(value);
    const HookedMemory::Scope scope(HookedMemory::once_at("commit.written", [&] {
        CHECK(close_ticket(plain.log, 0) == Decision::closed);  // the body stays where it is for the second ticket
    }));
    const Published published = publisher.publish_placed(parts, loan.location);
    CHECK(published.offset == 1);
    CHECK(test::read_back(plain.log, 1).value == value);
}

TEST_CASE("the largest record fills one extent, and one byte more is refused before anything is reserved") {
    Log plain(extent_shape());
    Publisher publisher(plain.log, 0, 1);
    const std::string most(1024, 'm');
    const std::string over(1025, 'o');
    CHECK(publisher.publish(test::parts_of(most)).status == Status::ok);
    CHECK(publisher.publish(test::parts_of(over)).status == Status::too_large);
    CHECK(plain.end() == 1);
    CHECK(test::read_back(plain.log, 0).value == most);
}

TEST_CASE("without extents the largest record is one cell") {
    PlainShape shape;
    shape.extents = 0;
    Log plain(shape);
    Publisher publisher(plain.log, 0, 1);
    const std::string most(40, 'm');
    const std::string over(41, 'o');
    CHECK(publisher.publish(test::parts_of(most)).status == Status::ok);
    CHECK(publisher.publish(test::parts_of(over)).status == Status::too_large);
}
