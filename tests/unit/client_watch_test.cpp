// Who is attached, and when somebody of them has died: by a pidfd where there can be one, by the lock always.
#include "client_watch.hpp"

#include <chrono>
#include <csignal>
#include <vector>

#include "broker_impl.hpp"
#include "ringmain/broker.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::ScratchDirectory;

namespace {

constexpr std::int64_t kLater = ClientWatch::kProbeNs;
constexpr auto kLong = 60s;

struct Place {
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
    ClientWatch watch{broker.impl()->clients()};
    std::int64_t now_ns = 0;

    void look_later() { watch.look(now_ns += kLater); }
    /// A process that is attached when this returns.
    [[nodiscard]] Child attach() const {
        Child child([this] {
            const Broker own(scratch.broker());
            (void)own.impl()->client();
            ::raise(SIGSTOP);
            return 0;
        });
        int status = 0;
        REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
        REQUIRE(WIFSTOPPED(status));
        return child;
    }
};

}  // namespace

TEST_CASE("A death is counted once, whenever it is looked for") {
    Place place;
    place.look_later();
    const std::uint64_t begin = place.watch.deaths();
    Child first = place.attach();
    const Child second = place.attach();
    place.look_later();
    CHECK(place.watch.alive() == 2);
    CHECK(place.watch.watched() == 2);
    CHECK(place.watch.deaths() == begin);
    first.kill();
    place.look_later();
    CHECK(place.watch.alive() == 1);
    CHECK(place.watch.watched() == 1);
    CHECK(place.watch.deaths() == begin + 1);
    place.look_later();
    CHECK(place.watch.deaths() == begin + 1);
}

TEST_CASE("A client that came and died between two looks counts as a death, also when another has its slot") {
    Place place;
    place.look_later();
    const std::uint64_t begin = place.watch.deaths();
    place.attach().kill();
    place.watch.look(place.now_ns + 1);  // long before the next probe is due
    CHECK(place.watch.deaths() == begin + 1);
    place.attach().kill();
    place.attach().kill();
    const Child last = place.attach();  // all in one slot
    place.watch.look(place.now_ns + 2);
    CHECK(place.watch.alive() == 1);
    CHECK(place.watch.deaths() == begin + 2);  // those that were never seen may have left something, too
    place.look_later();
    CHECK(place.watch.alive() == 1);
}

TEST_CASE("The end of a process ends a wait, and the next look counts it at once") {
    Place place;
    Child child = place.attach();
    place.look_later();
    const std::uint64_t begin = place.watch.deaths();
    child.kill();
    const auto from = std::chrono::steady_clock::now();
    place.watch.wait(kLong);
    CHECK(std::chrono::steady_clock::now() - from < kLong / 2);
    place.watch.look(place.now_ns + 1);
    CHECK(place.watch.deaths() == begin + 1);
}

TEST_CASE("Clients in slots far behind the others are found, too") {
    Place place;
    std::vector<Broker> brokers;
    for (int i = 0; i < 40; ++i) {
        brokers.emplace_back(place.scratch.broker());
        (void)brokers.back().impl()->client();
    }
    place.look_later();
    CHECK(place.watch.alive() == 40);
    for (int i = 0; i < 40; ++i) {
        brokers.emplace_back(place.scratch.broker());
        (void)brokers.back().impl()->client();
    }
    for (int i = 0; i < 20; ++i)
        place.look_later();
    CHECK(place.watch.alive() == 80);
    CHECK(place.watch.watched() == 1);  // all are this process
    const std::uint64_t begin = place.watch.deaths();
    brokers.clear();
    place.look_later();
    CHECK(place.watch.alive() == 0);
    CHECK(place.watch.deaths() == begin + 1);
}
