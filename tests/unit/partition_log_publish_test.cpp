// Publishing by a shared producer: first lap, wrap, room, closed tickets, and tickets in two steps.
#include "partition_log/publisher.hpp"

#include <string>

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

void publish_many(Publisher& publisher, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const Published published = publisher.publish(test::parts_of("x"));
        REQUIRE(published.status == Status::ok);
    }
}

}  // namespace

TEST_CASE("offsets are dense from the first offset on, and records stay a lap") {
    const std::uint64_t first = GENERATE(0ULL, 5ULL, (1ULL << 32) - 7, (1ULL << 48) - 7, (1ULL << 61) - 7);
    PlainShape shape;
    shape.first_offset = first;
    Log plain(shape);
    Publisher publisher(plain.log, 0, 1);
    for (std::uint64_t i = 0; i < 50; ++i) {
        const std::string value = "record " + std::to_string(i);
        const Published published = publisher.publish(test::parts_of(value));
        REQUIRE(published.status == Status::ok);
        REQUIRE(published.offset == first + i);
        REQUIRE(plain.end() == first + i + 1);
        const std::uint64_t oldest = i < 16 ? 0 : i - 15;
        REQUIRE(plain.start() == first + oldest);
        for (std::uint64_t k = oldest; k <= i; ++k) {
            REQUIRE(test::read_back(plain.log, first + k) ==
                    test::ReadBack{Found::record, "record " + std::to_string(k)});
        }
        if (oldest > 0)
            REQUIRE(test::read_back(plain.log, first + oldest - 1).found == Found::lapped);
        REQUIRE(test::read_back(plain.log, first + i + 1).found == Found::nothing);
    }
}

TEST_CASE("a large ring moves its log start a sixty-fourth at a time") {
    PlainShape shape;
    shape.records = 1024;
    Log plain(shape);
    Publisher publisher(plain.log, 0, 1);
    publish_many(publisher, 1024);
    CHECK(plain.start() == 0);
    publish_many(publisher, 1);
    CHECK(plain.start() == 16);
    publish_many(publisher, 16);
    CHECK(plain.start() == 32);
}

TEST_CASE("a record whose ticket is closed while it is written is published once, under a new offset") {
    Log plain;
    Publisher publisher(plain.log, 0, 1);
    const HookedMemory::Scope scope(
        HookedMemory::once_at("commit.written", [&] { CHECK(close_ticket(plain.log, 0) == Decision::closed); }));
    const Published published = publisher.publish(test::parts_of("once"));
    CHECK(published.status == Status::ok);
    CHECK(published.offset == 1);
    CHECK(test::read_back(plain.log, 0).found == Found::skip);
    CHECK(test::read_back(plain.log, 1) == test::ReadBack{Found::record, "once"});
    CHECK(plain.quarantined_cells() == 0);
    CHECK(plain.ticket(0) == kIdle);
}

TEST_CASE("a record whose ticket is closed before the cell is looked at is published once") {
    Log plain;
    Publisher publisher(plain.log, 0, 1);
    const HookedMemory::Scope scope(
        HookedMemory::once_at("take.taken", [&] { CHECK(close_ticket(plain.log, 0) == Decision::closed); }));
    const Published published = publisher.publish(test::parts_of("once"));
    CHECK(published.offset == 1);
    CHECK(test::read_back(plain.log, 1) == test::ReadBack{Found::record, "once"});
    CHECK(plain.quarantined_cells() == 1);  // the holder never wrote: the keeper gives the cell back
}

TEST_CASE("a producer that meets nothing but quarantined cells says exhausted and is idle") {
    Log plain;
    Publisher publisher(plain.log, 0, 1);
    Tickets<HookedMemory> dead(plain.log, 1);
    for (int i = 0; i < 16; ++i)
        (void)dead.take();
    const Published published = publisher.publish(test::parts_of("x"));
    CHECK(published.status == Status::exhausted);
    CHECK(plain.ticket(0) == kIdle);
    CHECK(plain.quarantined_cells() == 16);
    for (std::uint64_t o = plain.start(); o < plain.end(); ++o)
        REQUIRE(test::read_back(plain.log, o).found == Found::skip);
}

TEST_CASE("a released cell serves again one lap later") {
    Log plain;
    Publisher publisher(plain.log, 0, 1);
    publish_many(publisher, 3);
    const Published taken = publisher.take_ticket();
    publisher.give_up(taken.offset);
    publish_many(publisher, 12);
    CHECK(test::read_back(plain.log, 3).found == Found::skip);
    publish_many(publisher, 4);
    CHECK(test::read_back(plain.log, 19) == test::ReadBack{Found::record, "x"});
    CHECK(plain.end() == 20);
}

TEST_CASE("commit_at commits under exactly its ticket or says that it was closed") {
    Log plain;
    Publisher publisher(plain.log, 0, 1);
    const Published taken = publisher.take_ticket();
    REQUIRE(taken.status == Status::ok);
    CHECK(plain.ticket(0) == holding(taken.offset));
    std::uint64_t end = plain.end();
    SECTION("committed") {
        const auto answer = publisher.commit_at(taken.offset, test::parts_of("letter"));
        CHECK(answer.status == Status::ok);
        CHECK(answer.decision == Decision::committed);
        CHECK(test::read_back(plain.log, taken.offset) == test::ReadBack{Found::record, "letter"});
    }
    SECTION("closed before") {
        CHECK(close_ticket(plain.log, taken.offset) == Decision::closed);
        CHECK(publisher.commit_at(taken.offset, test::parts_of("letter")).decision == Decision::closed);
    }
    SECTION("closed at the last moment") {
        const HookedMemory::Scope scope(HookedMemory::once_at(
            "commit.written", [&] { CHECK(close_ticket(plain.log, taken.offset) == Decision::closed); }));
        CHECK(publisher.commit_at(taken.offset, test::parts_of("letter")).decision == Decision::closed);
        CHECK(plain.quarantined_cells() == 0);
    }
    SECTION("lapped") {
        Publisher other(plain.log, 1, 1);
        publish_many(other, 40);
        end = plain.end();
        CHECK(publisher.commit_at(taken.offset, test::parts_of("letter")).decision == Decision::closed);
    }
    SECTION("too large") {
        const std::string large(2000, 'x');
        const auto answer = publisher.commit_at(taken.offset, test::parts_of(large));
        CHECK(answer.status == Status::too_large);
        CHECK(answer.decision == Decision::closed);
        CHECK(test::read_back(plain.log, taken.offset).found == Found::skip);
    }
    CHECK(plain.end() == end);  // never published under another offset
    CHECK(plain.ticket(0) == kIdle);
}

TEST_CASE("take_ticket asks for room on a block topic") {
    PlainShape shape;
    shape.block = true;
    Log plain(shape);
    gate_table::GateTable<HookedMemory> gates(plain.log.readers);
    const auto gate = gates.claim(1, "slow");
    REQUIRE(gate);
    CHECK(gates.hold(*gate, 0, plain.log.control->gate_floor) == 0);
    Publisher publisher(plain.log, 0, 1);
    publish_many(publisher, 12);
    CHECK(publisher.take_ticket().status == Status::would_block);
    CHECK(plain.end() == 12);
    gates.move(*gate, 1);
    CHECK(publisher.take_ticket().status == Status::ok);
}

TEST_CASE("records of every inline length come back as they were") {
    Log plain;
    Publisher publisher(plain.log, 0, 1);
    for (std::size_t length = 0; length <= 40; ++length) {
        std::string value(length, '\0');
        for (std::size_t i = 0; i < length; ++i)
            value[i] = static_cast<char>('a' + (i + length) % 26);
        const Published published = publisher.publish(test::parts_of(value));
        REQUIRE(test::read_back(plain.log, published.offset) == test::ReadBack{Found::record, value});
        CHECK(plain.extent(0) == 0);  // nothing went to an extent
    }
}
