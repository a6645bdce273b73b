// Marks in shared memory: what the next keeper believes of what it finds.
#include <cstdint>
#include <limits>
#include <vector>

#include "retention/mark_ring.hpp"

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::retention;
using test::HookedMemory;

namespace {

constexpr std::uint64_t kBoot = 7;
constexpr Mark kNoBound{std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()};

struct Ring {
    test::PlainLog<HookedMemory> plain;
    layout::MarkRing<HookedMemory>& shared = plain.log.marks->ages;

    void write(std::uint64_t offset, std::uint64_t measure, std::uint64_t boot = kBoot) { write_mark(shared, {offset, measure}, boot); }
    [[nodiscard]] std::vector<Mark> read(std::uint64_t start = 0, Mark newest = kNoBound) const {
        return read_marks(shared, start, newest, kBoot);
    }
    /// Puts a mark where the keeper's n-th went, as another keeper would.
    void scribble(std::uint64_t n, std::uint64_t offset, std::uint64_t measure) {
        put(n, offset, measure, seal_of({offset, measure}, kBoot));
    }
    void put(std::uint64_t n, std::uint64_t offset, std::uint64_t measure, std::uint64_t boot) {
        auto& mark = shared.marks[n % layout::kMarks];
        mark.offset.store(offset, std::memory_order_release);
        mark.measure.store(measure, std::memory_order_release);
        mark.origin.store(boot, std::memory_order_release);
    }
};

}  // namespace

TEST_CASE("marks come back as they were written, oldest first") {
    Ring ring;
    CHECK(ring.read().empty());
    ring.write(10, 100);
    ring.write(20, 200);
    ring.write(20, 200);
    CHECK(ring.read() == std::vector<Mark>{{10, 100}, {20, 200}, {20, 200}});
}

TEST_CASE("a ring that is full keeps all but the mark that is being filled next") {
    Ring ring;
    for (std::uint64_t i = 1; i <= 1000; ++i) ring.write(i, i);
    const std::vector<Mark> marks = ring.read();
    REQUIRE(marks.size() == kMarksKept);
    CHECK(marks.front() == Mark{1000 - kMarksKept + 1, 1000 - kMarksKept + 1});
    CHECK(marks.back() == Mark{1000, 1000});
}

TEST_CASE("a keeper that stopped while it filled a mark has not written it, and harmed no other") {
    Ring ring;
    for (std::uint64_t i = 1; i <= layout::kMarks + 5; ++i) ring.write(i, i);
    const std::vector<Mark> before = ring.read();
    std::vector<Mark> seen;
    {
        const HookedMemory::Scope hook(HookedMemory::once_at("mark.filled", [&] { seen = ring.read(); }));
        ring.write(999, 999);
    }
    CHECK(seen == before);
    CHECK(ring.read().back() == Mark{999, 999});
}

TEST_CASE("a mark that has words of two keepers is none, whichever they are") {
    Ring ring;
    ring.write(10, 100);
    ring.write(20, 200);
    // one was stopped while it filled the slot, the other one filled and counted it
    const Mark one{18, 120};
    const Mark other{19, 190};
    for (int words = 0; words < 8; ++words) {
        const Mark mixed{(words & 1) != 0 ? one.offset : other.offset, (words & 2) != 0 ? one.measure : other.measure};
        ring.put(1, mixed.offset, mixed.measure, seal_of((words & 4) != 0 ? one : other, kBoot));
        INFO(mixed.offset << ' ' << mixed.measure << ' ' << words);
        CHECK(ring.read().size() == (words == 0 || words == 7 ? 2 : 0));
    }
    ring.put(1, 0, 0, kBoot);  // a boot alone binds nothing
    CHECK(ring.read().empty());
    ring.put(1, 0, 0, 0);
    CHECK(ring.read().empty());
}

TEST_CASE("a number of marks that wrapped around costs marks, not the keeper") {
    Ring ring;
    ring.shared.written.store(std::numeric_limits<std::uint64_t>::max() - 1, std::memory_order_release);
    ring.write(1, 1);
    ring.write(2, 2);
    ring.write(3, 3);
    CHECK(ring.read() == std::vector<Mark>{{3, 3}});
}

TEST_CASE("nothing is believed from the first mark on that cannot be") {
    Ring ring;
    for (std::uint64_t i = 1; i <= 10; ++i) ring.write(10 * i, 100 * i);

    SECTION("an offset above the one after it") {
        ring.scribble(4, 1000, 500);
        CHECK(ring.read().front() == Mark{60, 600});
    }
    SECTION("a measure above the one after it") {
        ring.scribble(4, 50, 1001);
        CHECK(ring.read().front() == Mark{60, 600});
    }
    SECTION("the newest beyond the log end") {
        CHECK(ring.read(0, {99, kNoBound.measure}).empty());
        CHECK(ring.read(0, {100, kNoBound.measure}).size() == 10);
    }
    SECTION("the newest from the future") {
        CHECK(ring.read(0, {100, 999}).empty());
        CHECK(ring.read(0, {100, 1000}).size() == 10);
    }
    SECTION("another boot") {
        ring.write(110, 1100, kBoot + 1);
        CHECK(ring.read().empty());
        ring.write(120, 1200);
        CHECK(ring.read() == std::vector<Mark>{{120, 1200}});
    }
    SECTION("what is below the log start is of no use but for one") {
        CHECK(ring.read(45).front() == Mark{40, 400});
        CHECK(ring.read(50).front() == Mark{50, 500});
        CHECK(ring.read(1000) == std::vector<Mark>{{100, 1000}});
    }
}
