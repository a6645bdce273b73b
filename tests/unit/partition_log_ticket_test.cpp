// Tickets by hand: taken, written, committed, given up, and closed by somebody else between any two of these.
#include "partition_log/tickets.hpp"

#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using test::HookedMemory;
using test::PlainLog;

namespace {

using Log = PlainLog<HookedMemory>;
using Holder = Tickets<HookedMemory>;

constexpr std::uint64_t committed(std::uint64_t o) { return cell_word(o, CellState::committed); }
constexpr std::uint64_t quarantined(std::uint64_t o) { return cell_word(o, CellState::quarantined); }
constexpr std::uint64_t released(std::uint64_t o) { return cell_word(o, CellState::released); }

// Takes a ticket and publishes "x" under it; the answer of the commit.
bool publish(Holder& holder, std::uint64_t& offset) {
    offset = holder.take();
    const auto claim = holder.claim(holder.cell(offset), offset);
    if (!claim.mine)
        return false;
    holder.write_cell(holder.cell(offset), test::parts_of("x"), kInCell);
    const bool done = holder.commit(holder.cell(offset), offset, claim.from);
    holder.idle();
    return done;
}

void publish_many(Holder& holder, int count) {
    std::uint64_t offset = 0;
    for (int i = 0; i < count; ++i)
        REQUIRE(publish(holder, offset));
}

}  // namespace

TEST_CASE("a ticket that was taken and not written is open, and readers find nothing there") {
    Log plain;
    Holder holder(plain.log, 0);
    const std::uint64_t offset = holder.take();
    CHECK(offset == 0);
    CHECK(plain.end() == 1);
    CHECK(plain.ticket(0) == holding(0));
    CHECK(plain.word(offset) == 0);
    CHECK(test::read_back(plain.log, offset).found == Found::nothing);
}

TEST_CASE("the entry says taking before the fetch-add and names the ticket after it") {
    Log plain;
    Holder holder(plain.log, 1);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;  // entry, log_end
    const HookedMemory::Scope scope([&](std::string_view) { seen.emplace_back(plain.ticket(1), plain.end()); });
    CHECK(holder.take() == 0);
    CHECK(seen == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{kTaking, 0}, {kTaking, 1}});
    CHECK(plain.ticket(1) == holding(0));
    holder.idle();
    CHECK(plain.ticket(1) == kIdle);
}

TEST_CASE("a ticket written and not committed shows readers nothing of its bytes") {
    Log plain;
    Holder holder(plain.log, 0);
    const std::uint64_t offset = holder.take();
    const auto claim = holder.claim(holder.cell(offset), offset);
    REQUIRE(claim.mine);
    holder.write_cell(holder.cell(offset), test::parts_of("secret"), kInCell);
    CHECK(test::read_back(plain.log, offset).found == Found::nothing);
    CHECK(holder.commit(holder.cell(offset), offset, claim.from));
    CHECK(test::read_back(plain.log, offset) == test::ReadBack{Found::record, "secret"});
}

TEST_CASE("a ticket closed by a reader before its holder looked is lost without a trace in the cell") {
    Log plain;
    Holder holder(plain.log, 0);
    const std::uint64_t offset = holder.take();
    CHECK(close_ticket(plain.log, offset) == Decision::closed);
    CHECK(plain.word(offset) == quarantined(offset));
    CHECK_FALSE(holder.claim(holder.cell(offset), offset).mine);
    CHECK(plain.word(offset) == quarantined(offset));
    CHECK(test::read_back(plain.log, offset).found == Found::skip);
}

TEST_CASE("a late holder whose commit was lost releases the cell it wrote late") {
    Log plain;
    Holder holder(plain.log, 0);
    const std::uint64_t offset = holder.take();
    const auto claim = holder.claim(holder.cell(offset), offset);
    REQUIRE(claim.mine);
    CHECK(close_ticket(plain.log, offset) == Decision::closed);
    holder.write_cell(holder.cell(offset), test::parts_of("late"), kInCell);
    CHECK_FALSE(holder.commit(holder.cell(offset), offset, claim.from));
    CHECK(plain.word(offset) == released(offset));
    CHECK(test::read_back(plain.log, offset).found == Found::skip);
    CHECK(plain.log.control->released_cells.load(std::memory_order_relaxed) == 1);
}

TEST_CASE("a late holder follows later closings of its cell until its release holds") {
    Log plain;
    Holder late(plain.log, 0);
    const std::uint64_t offset = late.take();
    const auto claim = late.claim(late.cell(offset), offset);
    REQUIRE(claim.mine);
    Holder other(plain.log, 1);
    publish_many(other, 15);
    std::uint64_t met = 0;
    CHECK_FALSE(publish(other, met));  // meets the open ticket of one lap before
    CHECK(met == offset + 16);
    CHECK(plain.word(offset) == quarantined(met));
    const HookedMemory::Scope scope(HookedMemory::once_at("commit.lost", [&] {
        // a whole lap passes between the lost commit and the release: the cell is closed once more
        publish_many(other, 15);
        CHECK_FALSE(publish(other, met));
        CHECK(met == offset + 32);
    }));
    CHECK_FALSE(late.commit(late.cell(offset), offset, claim.from));
    CHECK(plain.word(offset) == released(offset + 32));
    publish_many(other, 16);
    CHECK(plain.word(offset) == committed(offset + 48));
}

TEST_CASE("the producer one lap later closes an open ticket by taking its own cell out") {
    Log plain;
    Holder sleeper(plain.log, 0);
    const std::uint64_t open = sleeper.take();
    Holder other(plain.log, 1);
    publish_many(other, 15);
    const std::uint64_t later = other.take();
    REQUIRE(later == open + 16);
    CHECK_FALSE(other.claim(other.cell(later), later).mine);
    CHECK(plain.word(later) == quarantined(later));
    CHECK(plain.start() > open);  // readers of the closed offset learn that the lap is gone
    CHECK(test::read_back(plain.log, open).found == Found::lapped);
    CHECK_FALSE(sleeper.claim(sleeper.cell(open), open).mine);
}

TEST_CASE("a claim that loses its closing to the late commit finds the cell to be its own") {
    Log plain;
    Holder late(plain.log, 0);
    const std::uint64_t offset = late.take();
    const auto claim = late.claim(late.cell(offset), offset);
    REQUIRE(claim.mine);
    late.write_cell(late.cell(offset), test::parts_of("late"), kInCell);
    Holder other(plain.log, 1);
    publish_many(other, 15);
    const std::uint64_t later = other.take();
    const HookedMemory::Scope scope(
        HookedMemory::once_at("close.announced", [&] { CHECK(late.commit(late.cell(offset), offset, claim.from)); }));
    const auto claimed = other.claim(other.cell(later), later);
    REQUIRE(claimed.mine);
    CHECK(claimed.from == committed(offset));
    CHECK(other.commit(other.cell(later), later, claimed.from));
    CHECK(plain.word(later) == committed(later));
}

TEST_CASE("closing tells whether the ticket was committed, closed or lapped") {
    Log plain;
    Holder holder(plain.log, 0);
    std::uint64_t offset = 0;
    REQUIRE(publish(holder, offset));
    CHECK(close_ticket(plain.log, offset) == Decision::committed);
    const std::uint64_t open = holder.take();
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    CHECK(close_ticket(plain.log, open) == Decision::closed);  // a second closer agrees
    plain.set_word(open, released(open));
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    publish_many(holder, 16);
    CHECK(close_ticket(plain.log, open) == Decision::lapped);
    CHECK(plain.log.control->closed_tickets.load(std::memory_order_relaxed) == 1);
}

TEST_CASE("of two closers one closes and the other sees it closed") {
    Log plain;
    Holder holder(plain.log, 0);
    const std::uint64_t offset = holder.take();
    const HookedMemory::Scope scope(
        HookedMemory::once_at("close.announced", [&] { CHECK(close_ticket(plain.log, offset) == Decision::closed); }));
    CHECK(close_ticket(plain.log, offset) == Decision::closed);
    CHECK(plain.log.control->closed_tickets.load(std::memory_order_relaxed) == 1);
    CHECK(plain.log.control->closings.load(std::memory_order_relaxed) == 2);
}

TEST_CASE("closing an offset of a later lap moves the log start past the record that it drops") {
    Log plain;
    Holder holder(plain.log, 0);
    publish_many(holder, 16);
    CHECK(plain.start() == 0);
    const std::uint64_t open = holder.take();
    CHECK(test::read_back(plain.log, 0).found == Found::record);
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    CHECK(plain.start() == 1);
    CHECK(test::read_back(plain.log, 0).found == Found::lapped);
}

TEST_CASE("giving up releases a ticket whose cell is free") {
    Log plain;
    Holder holder(plain.log, 0);
    SECTION("in the first lap") {
        const std::uint64_t offset = holder.take();
        holder.give_up(offset);
        CHECK(plain.word(offset) == released(offset));
    }
    SECTION("after a committed record, which is lost to readers first") {
        publish_many(holder, 16);
        const std::uint64_t offset = holder.take();
        holder.give_up(offset);
        CHECK(plain.word(offset) == released(offset));
        CHECK(plain.start() == 1);
    }
    SECTION("after a released offset") {
        holder.give_up(holder.take());
        publish_many(holder, 15);
        const std::uint64_t offset = holder.take();
        holder.give_up(offset);
        CHECK(plain.word(offset) == released(offset));
    }
}

TEST_CASE("giving up closes a ticket whose cell may have a late writer") {
    Log plain;
    Holder sleeper(plain.log, 0);
    Holder holder(plain.log, 1);
    const std::uint64_t open = sleeper.take();
    SECTION("the older ticket is open") {}
    SECTION("the older ticket is quarantined") { CHECK(close_ticket(plain.log, open) == Decision::closed); }
    publish_many(holder, 15);
    const std::uint64_t offset = holder.take();
    holder.give_up(offset);
    CHECK(plain.word(offset) == quarantined(offset));
}

TEST_CASE("giving up a ticket that others closed changes nothing") {
    Log plain;
    Holder holder(plain.log, 0);
    const std::uint64_t offset = holder.take();
    CHECK(close_ticket(plain.log, offset) == Decision::closed);
    holder.give_up(offset);
    CHECK(plain.word(offset) == quarantined(offset));
}
