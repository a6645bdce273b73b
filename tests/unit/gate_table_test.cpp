// Gates: claim, hold, move, drop, reap, and the race between a gate that begins and a mover of the log start.
#include "gate_table/gate_table.hpp"

#include <string>
#include <string_view>

#include "partition_log/log_start.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using gate_table::GateTable;
using test::HookedMemory;
using test::PlainLog;
using test::PlainShape;

namespace {

using Log = PlainLog<HookedMemory>;
using Gates = GateTable<HookedMemory>;

constexpr std::uint64_t kOwner = 1ULL << 32 | 7;

// A block topic with offsets 0 to 9, whose gates are asked for.
struct GatedLog {
    Log plain;
    Gates gates{nullptr};

    GatedLog() : plain(shape()), gates(plain.log.readers) {
        plain.log.control->log_end.store(10, std::memory_order_release);
    }

    std::uint64_t hold(std::uint32_t index, std::uint64_t offset) {
        return gates.hold(index, offset, plain.log.control->gate_floor);
    }
    [[nodiscard]] std::uint64_t floor() const { return plain.log.control->gate_floor.load(std::memory_order_acquire); }

    static PlainShape shape() {
        PlainShape shape;
        shape.block = true;
        return shape;
    }
};

}  // namespace

TEST_CASE("a gate that is claimed does not gate before it holds") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "audit");
    REQUIRE(gate);
    CHECK_FALSE(log.gates.lowest().index);
    CHECK(log.gates.name(*gate) == "audit");
    CHECK(layout::client_of(log.gates.owner(*gate)) == kOwner);
    CHECK(advance_start(log.plain.log, 5).start == 5);
    CHECK(log.hold(*gate, 7) == 7);
    CHECK(log.gates.lowest().offset == 7);
    CHECK(advance_start(log.plain.log, 10).start == 7);
}

TEST_CASE("sixteen gates fit and the next is refused until one is dropped") {
    GatedLog log;
    for (std::uint32_t i = 0; i < layout::kGatesMax; ++i)
        CHECK(log.gates.claim(kOwner, "gate").value() == i);
    CHECK_FALSE(log.gates.claim(kOwner, "one more"));
    log.gates.drop(5);
    CHECK(log.gates.claim(kOwner, "one more").value() == 5);
}

TEST_CASE("a name too long for its field is cut and stays terminated") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, std::string(200, 'n'));
    CHECK(log.gates.name(gate.value()) == std::string(layout::kGateNameMax, 'n'));
}

TEST_CASE("a gate below the floor begins at the floor") {
    GatedLog log;
    advance_start(log.plain.log, 6);
    CHECK(log.floor() == 6);
    const auto gate = log.gates.claim(kOwner, "late");
    CHECK(log.hold(gate.value(), 2) == 6);
    CHECK(log.gates.lowest().offset == 6);
}

TEST_CASE("a mover that has announced the floor leaves no gate below it") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "late").value();
    const HookedMemory::Scope scope(HookedMemory::once_at("start.announced", [&] { CHECK(log.hold(gate, 2) == 8); }));
    CHECK(advance_start(log.plain.log, 8).start == 8);
}

TEST_CASE("a gate written before the mover looks again keeps the log start where it was") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "early").value();
    std::uint64_t mover_got = 0;
    const HookedMemory::Scope scope(
        HookedMemory::once_at("gate.written", [&] { mover_got = advance_start(log.plain.log, 8).start; }));
    CHECK(log.hold(gate, 2) == 2);
    CHECK(mover_got == 2);  // the mover saw the gate at its first look already
    CHECK(log.plain.start() == 2);
}

TEST_CASE("a mover that finds a gate at its second look does not pass it") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "between").value();
    REQUIRE(log.hold(gate, 9) == 9);  // in nobody's way
    // its holder looked at the floor after the mover's first look at the gates and before the announcement
    const HookedMemory::Scope scope(HookedMemory::once_at("start.announced", [&] { log.gates.move(gate, 2); }));
    const StartMoved moved = advance_start(log.plain.log, 8);
    CHECK(moved.start == 0);
    CHECK(moved.gate == gate);
    CHECK(log.plain.start() == 0);
}

TEST_CASE("a mover that slept after its second look takes nothing from a gate that began meanwhile") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "late").value();
    std::uint64_t begins_at = 0;
    const HookedMemory::Scope scope(HookedMemory::once_at("start.looked", [&] { begins_at = log.hold(gate, 2); }));
    advance_start(log.plain.log, 8);
    CHECK(begins_at == 8);
    CHECK(log.plain.start() <= begins_at);
}

TEST_CASE("of two movers neither passes a gate that the other has seen") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "reader").value();
    CHECK(log.hold(gate, 3) == 3);
    const HookedMemory::Scope scope(HookedMemory::once_at("start.announced", [&] {
        CHECK(advance_start(log.plain.log, 9).start == 3);
        log.gates.move(gate, 5);
        CHECK(advance_start(log.plain.log, 9).start == 5);
    }));
    CHECK(advance_start(log.plain.log, 4).start == 5);
}

TEST_CASE("a gate that moves while a mover looks is never passed") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "reader").value();
    CHECK(log.hold(gate, 3) == 3);
    const HookedMemory::Scope scope(HookedMemory::once_at("start.announced", [&] { log.gates.move(gate, 6); }));
    CHECK(advance_start(log.plain.log, 10).start == 3);
    CHECK(advance_start(log.plain.log, 10).start == 6);
}

TEST_CASE("a dead holder's gate is reaped once, and its entry serves again") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "dead").value();
    log.hold(gate, 3);
    CHECK(log.gates.reap(gate, kOwner));
    CHECK_FALSE(log.gates.reap(gate, kOwner));
    CHECK(log.gates.owner(gate) == 0);
    CHECK_FALSE(log.gates.lowest().index);
    CHECK(log.gates.claim(kOwner + 1, "next").value() == gate);
}

TEST_CASE("a gate is reaped in one step, so that nobody who is stopped there can keep it up") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "dead").value();
    log.hold(gate, 3);
    std::uint64_t points = 0;
    const HookedMemory::Scope scope([&](std::string_view) { ++points; });
    CHECK(log.gates.reap(gate, kOwner));
    CHECK(points == 0);
    CHECK(advance_start(log.plain.log, 9).start == 9);
}

TEST_CASE("what a dead holder left in an entry does not gate for the next one that claims it") {
    GatedLog log;
    const auto dead = log.gates.claim(kOwner, "dead").value();
    log.hold(dead, 3);
    CHECK(log.gates.reap(dead, kOwner));
    const HookedMemory::Scope scope(HookedMemory::once_at("gate.claimed", [&] {
        CHECK(advance_start(log.plain.log, 5).start == 5);
        CHECK(layout::client_of(log.gates.owner(dead)) == kOwner + 1);
    }));
    REQUIRE(log.gates.claim(kOwner + 1, "next").value() == dead);
    CHECK(advance_start(log.plain.log, 7).start == 7);
    CHECK(log.hold(dead, 8) == 8);
    CHECK(advance_start(log.plain.log, 9).start == 8);
}

TEST_CASE("a holder that died between its claim and its first hold leaves no gate") {
    GatedLog log;
    const auto gate = log.gates.claim(kOwner, "dead").value();
    CHECK(advance_start(log.plain.log, 9).start == 9);
    CHECK(log.gates.reap(gate, log.gates.owner(gate)));
    CHECK(log.gates.owner(gate) == 0);
}

TEST_CASE("gate words that no holder would write end the look and the hold") {
    GatedLog log;
    log.plain.log.readers->gates[3].owner.store(kOwner, std::memory_order_release);
    log.plain.log.readers->gates[3].word.store(~std::uint64_t{0}, std::memory_order_release);
    CHECK(log.gates.lowest().index == 3U);
    CHECK(advance_start(log.plain.log, 9).start == 9);
    log.plain.log.control->gate_floor.store(1ULL << 62, std::memory_order_release);
    const auto gate = log.gates.claim(kOwner, "reader").value();
    CHECK(log.hold(gate, 2) == 1ULL << 62);
}
