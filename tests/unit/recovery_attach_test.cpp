// Attaching: slots, the lease, and how shared and exclusive producers exclude each other.
#include "recovery/attachment.hpp"

#include <set>

#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/publisher.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using recovery::Attached;
using recovery::AttachOutcome;
using test::HookedMemory;
using test::PlainLog;
using test::PlainShape;

namespace {

using Log = PlainLog<HookedMemory>;

constexpr std::uint64_t client(std::uint32_t n) { return std::uint64_t{1} << 32 | n; }

struct Graveyard {
    std::set<std::uint64_t> dead;
    bool operator()(std::uint64_t owner) const { return dead.contains(owner); }
};

using Attachment = recovery::Attachment<HookedMemory, Graveyard>;

std::uint64_t lease(const Log& plain) { return plain.log.control->lease.load(std::memory_order_acquire); }
std::uint64_t owner(const Log& plain, std::uint32_t slot) {
    return plain.log.producers[slot].owner.load(std::memory_order_acquire);
}
std::uint32_t slots_taken(const Log& plain) {
    std::uint32_t taken = 0;
    for (std::uint32_t slot = 0; slot < plain.log.producer_slots; ++slot)
        taken += owner(plain, slot) != 0 ? 1 : 0;
    return taken;
}

}  // namespace

TEST_CASE("a tenure begins with nothing held, whatever a dead one left in the slot") {
    Log plain;
    const Graveyard is_dead{{client(1)}};
    auto& slot = plain.log.producers[0];
    slot.owner.store(client(1), std::memory_order_release);
    slot.ticket.store(holding(5), std::memory_order_release);
    for (std::uint32_t taken = 1; taken < plain.log.producer_slots; ++taken)
        plain.log.producers[taken].owner.store(client(9), std::memory_order_release);
    REQUIRE(Attachment(plain.log, client(2), is_dead).attach_shared().slot == 0);
    CHECK(slot.owner.load(std::memory_order_acquire) == client(2));
    CHECK(slot.ticket.load(std::memory_order_acquire) == kIdle);
}

TEST_CASE("shared producers get slots of their own until all are taken, and each tenure has a new generation") {
    Log plain;
    const Graveyard is_dead;
    for (std::uint32_t n = 1; n <= 4; ++n) {
        const Attached attached = Attachment(plain.log, client(n), is_dead).attach_shared();
        CHECK(attached.outcome == AttachOutcome::attached);
        CHECK(attached.slot == n - 1);
        CHECK(attached.generation == 1);
    }
    CHECK(Attachment(plain.log, client(5), is_dead).attach_shared().outcome == AttachOutcome::full);
    Attachment(plain.log, client(2), is_dead).detach(1);
    const Attached next = Attachment(plain.log, client(5), is_dead).attach_shared();
    CHECK(next.slot == 1);
    CHECK(next.generation == 2);
}

TEST_CASE("a full table is reaped of dead producers before anybody is refused") {
    Log plain;
    Graveyard is_dead;
    for (std::uint32_t n = 1; n <= 4; ++n)
        (void)Attachment(plain.log, client(n), is_dead).attach_shared();
    is_dead.dead.insert(client(3));
    const Attached attached = Attachment(plain.log, client(5), is_dead).attach_shared();
    CHECK(attached.outcome == AttachOutcome::attached);
    CHECK(attached.slot == 2);
}

TEST_CASE("a shared producer excludes an exclusive one and is named") {
    Log plain;
    const Graveyard is_dead;
    (void)Attachment(plain.log, client(1), is_dead).attach_shared();
    const Attached refused = Attachment(plain.log, client(2), is_dead).attach_exclusive();
    CHECK(refused.outcome == AttachOutcome::shared);
    CHECK(refused.slot == 0);
    CHECK(lease(plain) == 0);
    CHECK(slots_taken(plain) == 1);
}

TEST_CASE("an exclusive producer excludes everybody else and is named") {
    Log plain;
    const Graveyard is_dead;
    const Attached holder = Attachment(plain.log, client(1), is_dead).attach_exclusive();
    REQUIRE(holder.outcome == AttachOutcome::attached);
    CHECK(lease(plain) == recovery::lease_word(holder.slot, holder.generation));
    const Attached shared = Attachment(plain.log, client(2), is_dead).attach_shared();
    const Attached exclusive = Attachment(plain.log, client(3), is_dead).attach_exclusive();
    CHECK(shared.outcome == AttachOutcome::exclusive);
    CHECK(shared.slot == holder.slot);
    CHECK(exclusive.outcome == AttachOutcome::exclusive);
    CHECK(exclusive.slot == holder.slot);
    CHECK(slots_taken(plain) == 1);
    Attachment attachment(plain.log, client(1), is_dead);
    attachment.give_back_lease();
    attachment.detach(holder.slot);
    CHECK(Attachment(plain.log, client(2), is_dead).attach_shared().outcome == AttachOutcome::attached);
}

TEST_CASE("R2: the lease of a dead exclusive producer is taken over with all that it committed") {
    Log plain;
    Graveyard is_dead;
    const Attached holder = Attachment(plain.log, client(1), is_dead).attach_exclusive();
    ExclusivePublisher<HookedMemory> publisher(plain.log, holder.slot, holder.generation);
    for (int i = 0; i < 5; ++i)
        REQUIRE(publisher.publish(test::parts_of("x")).status == Status::ok);
    plain.set_word(5, cell_word(5, CellState::committed));  // committed, and dead before log_end moved
    is_dead.dead.insert(client(1));
    const bool exclusive_successor = GENERATE(false, true);
    Attachment successor(plain.log, client(2), is_dead);
    const Attached attached = exclusive_successor ? successor.attach_exclusive() : successor.attach_shared();
    CHECK(attached.outcome == AttachOutcome::attached);
    CHECK(plain.end() == 6);
    CHECK(lease(plain) == (exclusive_successor ? recovery::lease_word(attached.slot, attached.generation) : 0));
    recovery::reap_producers(plain.log, is_dead);
    CHECK(slots_taken(plain) == 1);
}

TEST_CASE("R2: a lease whose slot serves another tenure is not held") {
    Log plain;
    const Graveyard is_dead;
    plain.occupy(1, client(1), 9);
    plain.log.control->lease.store(recovery::lease_word(1, 8), std::memory_order_release);
    CHECK(Attachment(plain.log, client(2), is_dead).attach_shared().outcome == AttachOutcome::attached);
    CHECK(lease(plain) == 0);
}

TEST_CASE("R2: a lease that names no possible slot is not held") {
    Log plain;
    const Graveyard is_dead;
    for (const std::uint64_t hostile :
         {std::uint64_t{0xffff}, std::uint64_t{5}, std::uint64_t{1} << 16, ~std::uint64_t{0}}) {
        plain.log.control->lease.store(hostile, std::memory_order_release);
        Attachment attachment(plain.log, client(2), is_dead);
        const Attached attached = attachment.attach_shared();
        CHECK(attached.outcome == AttachOutcome::attached);
        CHECK(lease(plain) == 0);
        attachment.detach(attached.slot);
    }
}

TEST_CASE("when a shared and an exclusive producer come together at least one steps back") {
    Log plain;
    const Graveyard is_dead;
    Attached shared;
    Attached exclusive;
    SECTION("the shared one comes between the lease and the look at the slots") {
        const HookedMemory::Scope scope(HookedMemory::once_at(
            "attach.leased", [&] { shared = Attachment(plain.log, client(2), is_dead).attach_shared(); }));
        exclusive = Attachment(plain.log, client(1), is_dead).attach_exclusive();
        CHECK(exclusive.outcome == AttachOutcome::attached);
        CHECK(shared.outcome == AttachOutcome::exclusive);
    }
    SECTION("the exclusive one comes between the slot and the look at the lease") {
        const HookedMemory::Scope scope(HookedMemory::once_at(
            "attach.claimed", [&] { exclusive = Attachment(plain.log, client(1), is_dead).attach_exclusive(); }));
        shared = Attachment(plain.log, client(2), is_dead).attach_shared();
        CHECK(shared.outcome == AttachOutcome::attached);
        CHECK(exclusive.outcome == AttachOutcome::shared);
    }
    CHECK(slots_taken(plain) == 1);
}

TEST_CASE("who is in the way is always a slot of the table") {
    Log plain;
    const Graveyard is_dead;
    const Attached holder = Attachment(plain.log, client(1), is_dead).attach_exclusive();
    REQUIRE(holder.outcome == AttachOutcome::attached);
    // the holder lets go right after it was found alive
    const auto lets_go = [&](std::uint64_t) {
        Attachment(plain.log, client(1), is_dead).give_back_lease();
        return false;
    };
    const Attached refused = recovery::Attachment(plain.log, client(2), lets_go).attach_exclusive();
    CHECK(refused.outcome == AttachOutcome::exclusive);
    CHECK(refused.slot < plain.log.producer_slots);
}

TEST_CASE("an exclusive producer decides what dead shared ones left open") {
    Log plain;
    Graveyard is_dead;
    const Attached dead = Attachment(plain.log, client(1), is_dead).attach_shared();
    SharedPublisher<HookedMemory> publisher(plain.log, dead.slot, dead.generation);
    REQUIRE(publisher.publish(test::parts_of("x")).status == Status::ok);
    const Published open = publisher.take_ticket();
    is_dead.dead.insert(client(1));
    REQUIRE(Attachment(plain.log, client(2), is_dead).attach_exclusive().outcome == AttachOutcome::attached);
    CHECK(test::read_back(plain.log, open.offset).found == Found::skip);
    CHECK(test::read_back(plain.log, 0).found == Found::record);
}

TEST_CASE("control words that contradict each other do not make attaching endless") {
    Log plain;
    const Graveyard is_dead;
    plain.log.control->log_end.store(std::uint64_t{1} << 22, std::memory_order_release);
    (void)Attachment(plain.log, client(1), is_dead).attach_exclusive();
    CHECK(plain.log.control->closings.load(std::memory_order_relaxed) <= plain.log.records);
}

TEST_CASE("whoever is stopped right after it claimed a slot is not taken for a producer that takes a ticket") {
    Log plain;
    Graveyard is_dead;
    const Attached dead = Attachment(plain.log, client(1), is_dead).attach_shared();
    Tickets<HookedMemory> tickets(plain.log, dead.slot);
    const std::uint64_t open = tickets.take();
    REQUIRE(close_ticket(plain.log, open) == Decision::closed);
    plain.log.producers[dead.slot].ticket.store(kTaking, std::memory_order_release);  // and died about to take another
    is_dead.dead.insert(client(1));
    recovery::reap_producers(plain.log, is_dead);
    bool released = false;
    bool waiting = false;
    const HookedMemory::Scope scope(HookedMemory::once_at("attach.claimed", [&] {
        released = recovery::release_cell(plain.log, plain.log.cell_index(open), is_dead, waiting);
    }));
    const Attached next = Attachment(plain.log, client(2), is_dead).attach_shared();
    CHECK(next.slot == dead.slot);
    CHECK(released);
    CHECK_FALSE(waiting);
}
