// Reaping dead producers and releasing quarantined cells, row by row of docs/recovery.md.
#include "recovery/recovery.hpp"

#include <set>
#include <string>

#include "partition_log/publisher.hpp"
#include "recovery/attachment.hpp"
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

constexpr std::uint64_t client(std::uint32_t n) { return std::uint64_t{1} << 32 | n; }

struct Graveyard {
    std::set<std::uint64_t> dead;
    bool operator()(std::uint64_t owner) const { return dead.contains(owner); }
};

void publish_many(Publisher& publisher, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
        REQUIRE(publisher.publish(test::parts_of("x")).status == Status::ok);
}

bool release(const Log& plain, std::uint64_t offset, const Graveyard& is_dead) {
    bool waiting = false;
    const bool released = recovery::release_cell(plain.log, plain.log.cell_index(offset), is_dead, waiting);
    CHECK_FALSE((released && waiting));
    return released;
}

}  // namespace

TEST_CASE("R5: a quarantined cell waits for a holder that sleeps and is released after its death") {
    Log plain;
    Graveyard is_dead;
    plain.occupy(0, client(1));
    plain.occupy(1, client(2));
    Tickets<HookedMemory> sleeper(plain.log, 0);
    const std::uint64_t open = sleeper.take();
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    CHECK_FALSE(release(plain, open, is_dead));
    is_dead.dead.insert(client(1));
    CHECK(release(plain, open, is_dead));
    CHECK(plain.word(open) == cell_word(open, CellState::released));
    CHECK_FALSE(release(plain, open, is_dead));
}

TEST_CASE("R5: a producer that is about to take a ticket holds every quarantined cell back") {
    Log plain;
    Graveyard is_dead;
    plain.occupy(0, client(1));
    plain.occupy(1, client(2));
    Tickets<HookedMemory> dead(plain.log, 0);
    const std::uint64_t open = dead.take();
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    is_dead.dead.insert(client(1));
    plain.log.producers[1].ticket.store(kTaking, std::memory_order_release);
    CHECK_FALSE(release(plain, open, is_dead));
    plain.log.producers[1].ticket.store(holding(open + 3), std::memory_order_release);
    plain.log.producers[1].count.store(1, std::memory_order_release);
    CHECK(release(plain, open, is_dead));
}

TEST_CASE("R5: a batch holds back the cells of all its tickets, also around the end of the ring") {
    Log plain;
    Graveyard is_dead;
    plain.occupy(0, client(1));
    Tickets<HookedMemory> holder(plain.log, 0);
    for (int i = 0; i < 14; ++i)
        (void)holder.take();
    const std::uint64_t first = holder.take(4);  // 14 to 17
    for (std::uint64_t o = 0; o < 18; ++o)
        CHECK(close_ticket(plain.log, o) != Decision::committed);
    for (const std::uint64_t held : {first, first + 1, first + 2, first + 3})
        CHECK_FALSE(release(plain, held, is_dead));
    CHECK(release(plain, first - 1, is_dead));
    CHECK(release(plain, 2, is_dead));
    holder.idle();
    CHECK(release(plain, first + 1, is_dead));
}

TEST_CASE("R5: a cell that is closed again between judgement and release is judged anew") {
    Log plain;
    Graveyard is_dead;
    plain.occupy(0, client(1));
    plain.occupy(1, client(2));
    Tickets<HookedMemory> dead(plain.log, 0);
    Publisher other(plain.log, 1, 1);
    const std::uint64_t open = dead.take();
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    is_dead.dead.insert(client(1));
    const HookedMemory::Scope scope(HookedMemory::once_at("release.judged", [&] { publish_many(other, 16); }));
    bool waiting = false;
    CHECK_FALSE(recovery::release_cell(plain.log, plain.log.cell_index(open), is_dead, waiting));
    CHECK(waiting);
    CHECK(plain.word(open) == cell_word(open + 16, CellState::quarantined));
    CHECK(release(plain, open, is_dead));
}

TEST_CASE("R5: only quarantined cells are released") {
    Log plain;
    const Graveyard is_dead;
    for (const CellState state : {CellState::committed, CellState::released}) {
        plain.set_word(3, cell_word(3, state));
        CHECK_FALSE(release(plain, 3, is_dead));
        CHECK(plain.word(3) == cell_word(3, state));
    }
    CHECK_FALSE(release(plain, 5, is_dead));
}

TEST_CASE("R3: extents of a dead producer's tenure are sealed with the log end, and no others") {
    Log plain;
    plain.log.control->log_end.store(9, std::memory_order_release);
    plain.log.extents[0].word.store(owned_extent(2, 5), std::memory_order_release);
    plain.log.extents[1].word.store(owned_extent(2, 6), std::memory_order_release);
    plain.log.extents[2].word.store(owned_extent(1, 5), std::memory_order_release);
    plain.log.extents[3].word.store(sealed_extent(4), std::memory_order_release);
    CHECK(recovery::seal_extents(plain.log, 2, 5) == 1);
    CHECK(plain.extent(0) == sealed_extent(9));
    CHECK(plain.extent(1) == owned_extent(2, 6));
    CHECK(plain.extent(2) == owned_extent(1, 5));
    CHECK(plain.extent(3) == sealed_extent(4));
    CHECK(recovery::seal_extents(plain.log, 2, 5) == 0);
}

TEST_CASE("R4: a dead producer's slot, extent and cells come back; a live one's stay") {
    Log plain;
    Graveyard is_dead;
    recovery::Attachment dying(plain.log, client(1), is_dead);
    recovery::Attachment living(plain.log, client(2), is_dead);
    const recovery::Attached dead = dying.attach_shared();
    const recovery::Attached alive = living.attach_shared();
    Publisher dead_publisher(plain.log, dead.slot, dead.generation);
    const std::string large(300, 'x');
    REQUIRE(dead_publisher.publish(test::parts_of(large)).status == Status::ok);
    const Published taken = dead_publisher.take_ticket();
    CHECK(close_ticket(plain.log, taken.offset) == Decision::closed);
    CHECK(recovery::reap_producers(plain.log, is_dead) == 0);
    is_dead.dead.insert(client(1));
    std::uint64_t sealed = 0;
    CHECK(recovery::reap_producers(plain.log, is_dead, &sealed) == 1);
    CHECK(sealed == 1);
    CHECK(plain.extent(0) == sealed_extent(plain.end()));
    CHECK(plain.log.producers[dead.slot].owner.load(std::memory_order_acquire) == 0);
    CHECK(plain.log.producers[alive.slot].owner.load(std::memory_order_acquire) == client(2));
    CHECK(release(plain, taken.offset, is_dead));
    CHECK(plain.log.control->reaped_producers.load(std::memory_order_relaxed) == 1);
    CHECK(test::read_back(plain.log, 0).value == large);  // what it committed stays
}

TEST_CASE("R4: a slow reaper takes nothing from the slot's next owner") {
    Log plain;
    Graveyard is_dead;
    const recovery::Attached dead = recovery::Attachment(plain.log, client(1), is_dead).attach_shared();
    Publisher dead_publisher(plain.log, dead.slot, dead.generation);
    const std::string large(300, 'x');
    REQUIRE(dead_publisher.publish(test::parts_of(large)).status == Status::ok);
    is_dead.dead.insert(client(1));
    const HookedMemory::Scope scope(HookedMemory::once_at("reap.sealed", [&] {
        CHECK(recovery::reap_producers(plain.log, is_dead) == 1);
        const recovery::Attached next = recovery::Attachment(plain.log, client(3), is_dead).attach_shared();
        REQUIRE(next.slot == dead.slot);
        Publisher publisher(plain.log, next.slot, next.generation);
        REQUIRE(publisher.publish(test::parts_of(large)).status == Status::ok);
    }));
    CHECK(recovery::reap_producers(plain.log, is_dead) == 1);
    CHECK(plain.log.producers[dead.slot].owner.load(std::memory_order_acquire) == client(3));
    std::uint32_t owned = 0;
    for (std::uint32_t i = 0; i < plain.log.extent_count; ++i) {
        owned += plain.extent(i) == owned_extent(dead.slot, dead.generation + 1) ? 1 : 0;
    }
    CHECK(owned == 1);
    CHECK(plain.log.control->reaped_producers.load(std::memory_order_relaxed) == 1);
}

TEST_CASE("R4: a producer that died before its tenure began is reaped") {
    Log plain;
    Graveyard is_dead;
    plain.log.producers[0].owner.store(client(1) | layout::kOwnerBegins, std::memory_order_release);
    CHECK(recovery::reap_producers(plain.log, is_dead) == 0);
    is_dead.dead.insert(client(1));
    CHECK(recovery::reap_producers(plain.log, is_dead) == 1);
    CHECK(plain.log.producers[0].owner.load(std::memory_order_acquire) == 0);
}

TEST_CASE("a dead holder's ticket in a slot that is taken over holds no cell back, also before the tenure begins") {
    Log plain;
    Graveyard is_dead;
    const recovery::Attached dead = recovery::Attachment(plain.log, client(1), is_dead).attach_shared();
    Tickets<HookedMemory> tickets(plain.log, dead.slot);
    const std::uint64_t open = tickets.take();
    CHECK(close_ticket(plain.log, open) == Decision::closed);
    is_dead.dead.insert(client(1));
    recovery::reap_producers(plain.log, is_dead);
    const HookedMemory::Scope scope(
        HookedMemory::once_at("attach.claimed", [&] { CHECK(release(plain, open, is_dead)); }));
    REQUIRE(recovery::Attachment(plain.log, client(2), is_dead).attach_shared().slot == dead.slot);
    CHECK(plain.word(open) == cell_word(open, CellState::released));
}
