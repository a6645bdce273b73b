// The exclusive producer: commits without tickets, and what its death leaves beyond the log end.
#include "partition_log/exclusive_publisher.hpp"

#include <string>
#include <vector>

#include "recovery/recovery.hpp"
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
using Publisher = ExclusivePublisher<HookedMemory>;

void publish_many(Publisher& publisher, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
        REQUIRE(publisher.publish(test::parts_of("x")).status == Status::ok);
}

// The producer's `count`-th arrival at the named point is its death: the memory stays as it was at that moment.
template <class Act>
void die_at(const Log& plain, std::string_view where, int count, Act&& act) {
    std::vector<std::byte> at_death;
    {
        const HookedMemory::Scope scope([&](std::string_view point) {
            if (point == where && --count == 0)
                at_death.assign(plain.base(), plain.base() + plain.bytes());
        });
        act();
    }
    REQUIRE(at_death.size() == plain.bytes());
    std::memcpy(plain.base(), at_death.data(), at_death.size());
}

}  // namespace

TEST_CASE("an exclusive producer goes through first lap and wrap with dense offsets") {
    PlainShape shape;
    shape.first_offset = GENERATE(0ULL, (1ULL << 32) - 7, (1ULL << 61) - 7);
    Log plain(shape);
    Publisher publisher(plain.log, 0, 1);
    for (std::uint64_t i = 0; i < 50; ++i) {
        const std::string value = std::to_string(i);
        const Published published = publisher.publish(test::parts_of(value));
        REQUIRE(published.status == Status::ok);
        REQUIRE(published.offset == shape.first_offset + i);
        REQUIRE(plain.end() == shape.first_offset + i + 1);
        REQUIRE(test::read_back(plain.log, published.offset).value == value);
        if (i >= 16)
            REQUIRE(test::read_back(plain.log, published.offset - 16).found == Found::lapped);
    }
    CHECK(plain.ticket(0) == kIdle);
}

TEST_CASE("an exclusive producer's record is committed before the log end moves") {
    Log plain;
    Publisher publisher(plain.log, 0, 1);
    std::vector<std::uint64_t> ends;
    const HookedMemory::Scope scope([&](std::string_view point) {
        if (point == "exclusive.committed")
            ends.push_back(plain.end());
    });
    publish_many(publisher, 2);
    CHECK(ends == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("R1: a record committed beyond the log end is found by the successor") {
    const int laps = GENERATE(1, 2);
    Log plain;
    const int count = laps == 1 ? 5 : 20;
    die_at(plain, "exclusive.committed", count, [&] {
        Publisher publisher(plain.log, 0, 1);
        publish_many(publisher, static_cast<std::uint64_t>(count));
    });
    const auto last = static_cast<std::uint64_t>(count) - 1;
    CHECK(plain.end() == last);
    CHECK(test::read_back(plain.log, last).found == Found::record);
    recovery::recover_log_end(plain.log);
    CHECK(plain.end() == last + 1);
    recovery::recover_log_end(plain.log);
    CHECK(plain.end() == last + 1);
}

TEST_CASE("R1: a record written and not committed does not exist for the successor") {
    Log plain;
    die_at(plain, "exclusive.written", 20, [&] {
        Publisher publisher(plain.log, 0, 1);
        publish_many(publisher, 20);
    });
    recovery::recover_log_end(plain.log);
    CHECK(plain.end() == 19);
    CHECK(test::read_back(plain.log, 19).found == Found::nothing);
    CHECK(test::read_back(plain.log, 3).found == Found::lapped);  // its bytes are half overwritten
    SharedPublisher<HookedMemory> successor(plain.log, 1, 1);
    const Published published = successor.publish(test::parts_of("next"));
    CHECK(published.offset == 19);
    CHECK(test::read_back(plain.log, 19).value == "next");
}

TEST_CASE("R1: a batch committed and not announced is found whole") {
    PlainShape shape;
    shape.records = 64;
    shape.batch_records_max = 8;
    Log plain(shape);
    const std::vector<RecordParts> parts(8, test::parts_of("x"));
    std::vector<std::uint64_t> offsets(8);
    die_at(plain, "exclusive.committed", 7, [&] {
        Publisher publisher(plain.log, 0, 1);
        CHECK(publisher.publish_batch(parts, offsets).count == 8);
    });
    CHECK(plain.end() == 0);
    recovery::recover_log_end(plain.log);
    CHECK(plain.end() == 7);
}

TEST_CASE("the scan beyond the log end is bounded and stops at words of other laps") {
    Log plain;
    SECTION("a ring full of records beyond the end") {
        for (std::uint64_t o = 0; o < 16; ++o)
            plain.set_word(o, cell_word(o, CellState::committed));
        recovery::recover_log_end(plain.log);
        CHECK(plain.end() == 16);
    }
    SECTION("a word of a later lap") {
        plain.set_word(0, cell_word(16, CellState::committed));
        recovery::recover_log_end(plain.log);
        CHECK(plain.end() == 0);
    }
    SECTION("a closed offset") {
        plain.set_word(0, cell_word(0, CellState::quarantined));
        recovery::recover_log_end(plain.log);
        CHECK(plain.end() == 0);
    }
}

TEST_CASE("an exclusive producer overwrites a quarantined cell of the lap before") {
    Log plain;
    Tickets<HookedMemory> dead(plain.log, 1);
    const std::uint64_t open = dead.take();
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    Publisher publisher(plain.log, 0, 1);
    publish_many(publisher, 16);
    CHECK(plain.word(16) == cell_word(16, CellState::committed));
    CHECK(plain.quarantined_cells() == 0);
}

TEST_CASE("a keeper that judged a quarantined cell cannot take an exclusive producer's record away") {
    Log plain;
    Tickets<HookedMemory> dead(plain.log, 1);
    CHECK(close_ticket(plain.log, dead.take()) == Decision::closed);
    dead.idle();
    Publisher publisher(plain.log, 0, 1);
    const HookedMemory::Scope scope(HookedMemory::once_at("release.judged", [&] { publish_many(publisher, 16); }));
    bool waiting = false;
    const auto nobody_dead = [](std::uint64_t) { return false; };
    CHECK_FALSE(recovery::release_cell(plain.log, plain.log.cell_index(0), nobody_dead, waiting));
    CHECK(plain.word(16) == cell_word(16, CellState::committed));
}

TEST_CASE("an exclusive producer waits for gates and not for slack of others") {
    PlainShape shape;
    shape.block = true;
    Log plain(shape);
    gate_table::GateTable<HookedMemory> gates(plain.log.readers);
    const auto gate = gates.claim(1, "slow");
    REQUIRE(gate);
    gates.hold(*gate, 0, plain.log.control->gate_floor);
    Publisher publisher(plain.log, 0, 1);
    publish_many(publisher, 12);
    CHECK(publisher.publish(test::parts_of("x")).status == Status::would_block);
    gates.move(*gate, 5);
    CHECK(publisher.publish(test::parts_of("x")).status == Status::ok);
    for (std::uint64_t o = 5; o < plain.end(); ++o)
        CHECK(test::read_back(plain.log, o).found == Found::record);
}
