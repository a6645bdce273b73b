// The client table, each word of it noise: nobody is proven dead who lives, and a place is found for who comes.
#include <chrono>
#include <iostream>
#include <random>

#include "client_table/client_table.hpp"
#include "concurrency/seed.hpp"
#include "hostile/broker_image.hpp"
#include "hostile/oracle_run.hpp"
#include "support/catch.hpp"
#include "support/test_broker.hpp"
#include "topic_paths.hpp"

namespace ringmain::test {

namespace {

using client_table::ClientTable;
using platform::Access;

ClientTable open_table(const TestBroker& place, Access access = Access::read_only) {
    const auto path = clients_path(place.scratch.broker());
    return {platform::Mapping(path, access, layout::kClientsFileBytes), path, access};
}

/// The table's words, changed by somebody who has no business there.
class Scribbler {
public:
    Scribbler(const TestBroker& place, std::uint64_t seed)
        : random_(seed), file_(clients_path(place.scratch.broker()), Access::read_write, layout::kClientsFileBytes) {}

    std::uint64_t draw() { return random_(); }
    void scribble(std::uint32_t slot) {
        auto& word = words(slot)[random_() % 5];
        word.store(nasty_word(word.load(std::memory_order_relaxed), random_), std::memory_order_relaxed);
    }
    [[nodiscard]] std::atomic<std::uint64_t>* words(std::uint32_t slot) const {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(file_.data() + layout::kClientsAt +
                                                             slot * sizeof(layout::ClientEntry<platform::HostMemory>));
    }

private:
    std::mt19937_64 random_;
    platform::Mapping file_;
};

}  // namespace

TEST_CASE(
    "The client table answers whatever its words say, and no living client is proven dead by what others wrote there") {
    const std::uint64_t seed = seed_for("client table");
    const std::uint64_t calls = from_environment("RINGMAIN_HOSTILE_CALLS", kOracleCalls) / 100;
    const TestBroker place;
    Scribbler scribbler(place, seed);
    ClientTable alive = open_table(place, Access::read_write);
    const layout::ClientId me = alive.attach();
    const ClientTable looks = open_table(place);
    std::uint64_t wrong = 0;
    std::uint64_t attached = 0;
    for (std::uint64_t i = 0; i < calls; ++i) {
        auto slot = static_cast<std::uint32_t>(scribbler.draw() % 4);
        if (slot == me.slot && scribbler.draw() % 2 == 0)
            slot = layout::kClientsMax - 1;
        if (slot != me.slot)
            scribbler.scribble(slot);
        const std::uint64_t word =
            scribbler.draw() % 4 == 0 ? scribbler.draw()
                                      : layout::ClientId{slot, static_cast<std::uint32_t>(scribbler.draw() % 4)}.word();
        (void)looks.proven_dead_word(word);
        const layout::ClientId id = layout::ClientId::from_word(word | 1);
        const ClientDescription description = looks.describe(id);
        wrong += description.slot == id.slot ? 0 : 1;
        (void)looks.details(id);
        (void)looks.last_of(id.slot);
        if (looks.proven_dead(me))
            ++wrong;
        if (i % 512 != 0)
            continue;
        ClientTable comer = open_table(place, Access::read_write);
        const layout::ClientId got = comer.attach();
        wrong += got.slot < layout::kClientsMax && got.incarnation != 0 && !looks.proven_dead(got) ? 0 : 1;
        ++attached;
    }
    std::cout << "hostile memory, client table: " << 6 * calls << " calls, " << attached << " attached\n";
    CHECK(wrong == 0);
    CHECK(attached > 0);
}

}  // namespace ringmain::test
