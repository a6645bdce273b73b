// Retention by bytes: counted cell by cell as the log grows, cut at marks.
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "partition_log/publisher.hpp"
#include "retention/by_bytes.hpp"

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::retention;
using test::HookedMemory;

namespace {

test::PlainShape shape_of(std::uint64_t records) {
    test::PlainShape shape;
    shape.records = records;
    shape.cell_bytes = 256;
    return shape;
}

/// A log in which records of any inline length appear, and a keeper of it.
struct Kept {
    explicit Kept(std::uint64_t records = 1024) : plain(shape_of(records)), keeper(std::in_place, plain.log) {}

    void restart() { keeper.emplace(plain.log); }

    void append(std::uint64_t count, const std::function<std::uint32_t(std::uint64_t)>& length) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t offset = lengths.size();
            lengths.push_back(length(offset));
            auto& cell = plain.log.cell(offset);
            cell.shape.store(partition_log::pack_shape(lengths.back(), 0, layout::kNullKey), std::memory_order_release);
            cell.word.store(partition_log::cell_word(offset, partition_log::CellState::committed), std::memory_order_release);
        }
        end = lengths.size();
    }
    void append(std::uint64_t count, std::uint32_t length = 100) {
        append(count, [=](std::uint64_t) { return length; });
    }
    [[nodiscard]] std::uint64_t retained() const {
        std::uint64_t bytes = 0;
        for (std::uint64_t offset = start; offset < end; ++offset) bytes += lengths[offset];
        return bytes;
    }
    void step() { start = std::max(start, keeper->step(limit, {start, end}, {++now_ns, 1})); }
    void settle() {
        do step();
        while (keeper->unfinished());
    }

    test::PlainLog<HookedMemory> plain;
    std::optional<ByBytes<HookedMemory>> keeper;
    std::vector<std::uint32_t> lengths;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t now_ns = 0;
    std::uint64_t limit = 12'000;
};

}  // namespace

TEST_CASE("between 99 % and 100 % of a limit in bytes stay") {
    Kept kept;
    kept.limit = GENERATE(1'000U, 12'000U, 12'119U, 50'001U);
    std::mt19937_64 random(kept.limit);
    for (int i = 0; i < 800; ++i) {
        kept.append(1 + random() % 5, [&](std::uint64_t) { return static_cast<std::uint32_t>(random() % 100); });
        kept.step();
        REQUIRE(kept.retained() <= kept.limit);
        // a mark's distance, and the record at each of its ends
        if (kept.start > 0) REQUIRE(kept.retained() >= kept.limit - (kept.limit / 120 + 1) - 200);
    }
    CHECK(kept.start > 0);
}

TEST_CASE("a second step at the same moment deletes nothing more") {
    Kept kept;
    kept.append(1000);
    kept.settle();
    const std::uint64_t start = kept.start;
    CHECK(kept.retained() <= kept.limit);
    kept.step();
    CHECK(kept.start == start);
    kept.restart();
    kept.settle();
    CHECK(kept.start == start);
}

TEST_CASE("what fits the limit stays whole") {
    Kept kept;
    kept.append(120);
    kept.settle();
    CHECK(kept.start == 0);
    kept.append(1);
    kept.step();
    CHECK(kept.start == 1);
}

TEST_CASE("a record larger than the limit goes, and so does an empty one never") {
    Kept kept;
    kept.limit = 50;
    kept.append(1, 100);
    kept.step();
    CHECK(kept.start == 1);
    kept.append(100, 0U);
    kept.step();
    CHECK(kept.start == 1);
}

TEST_CASE("values, keys and headers count; what the log adds to them does not") {
    Kept kept;
    const std::uint32_t extra = 16 + 4;
    kept.append(1, 10 + extra);
    kept.plain.log.cell(0).shape.store(
        partition_log::pack_shape(10 + extra, 3, layout::kHasHeaders | layout::kHasStamp), std::memory_order_release);
    ByteCount<HookedMemory> count(kept.plain.log);
    count.begin(0, 0, 1);
    count.walk(1, kCellsPerStep, [](std::uint64_t, std::uint64_t) {});
    CHECK(count.total() == 10);
}

TEST_CASE("an offset without a record has no bytes, and an open ticket is waited for") {
    Kept kept;
    kept.append(3);
    using partition_log::CellState;
    kept.plain.set_word(0, partition_log::cell_word(0, CellState::released));
    kept.plain.set_word(1, 0);
    ByteCount<HookedMemory> count(kept.plain.log);
    const auto ignore = [](std::uint64_t, std::uint64_t) {};
    count.walk(3, kCellsPerStep, ignore);
    CHECK(count.walked() == 1);
    CHECK(count.total() == 0);
    kept.plain.set_word(1, partition_log::cell_word(1, CellState::quarantined));
    count.walk(3, kCellsPerStep, ignore);
    CHECK(count.walked() == 3);
    CHECK(count.total() == 100);
}

TEST_CASE("a length that cannot be counts for nothing") {
    Kept kept;
    kept.append(2);
    kept.plain.log.cell(0).shape.store(~std::uint64_t{0}, std::memory_order_release);
    kept.plain.log.cell(1).shape.store(partition_log::pack_shape(3, 0, layout::kHasStamp), std::memory_order_release);
    kept.settle();
    CHECK(kept.start == 0);
}

TEST_CASE("a keeper that finds nothing counts what is retained first, in steps of 4096 cells") {
    Kept kept(16'384);
    kept.limit = 100'000;
    kept.append(16'000);
    int steps = 1;
    kept.step();
    while (kept.keeper->unfinished()) {
        CHECK(kept.start == 0);
        kept.step();
        ++steps;
    }
    CHECK(steps == 4);
    CHECK(kept.retained() <= kept.limit);
    CHECK(kept.retained() >= kept.limit * 98 / 100);
}

TEST_CASE("another keeper counts on from the newest mark, and so does the one after it") {
    Kept kept(16'384);
    kept.limit = 600'000;
    kept.append(16'000);
    kept.settle();
    for (int keepers = 0; keepers < 3; ++keepers) {
        kept.append(100);
        kept.restart();
        kept.step();
        CHECK_FALSE(kept.keeper->unfinished());
        CHECK(kept.retained() <= kept.limit);
        CHECK(kept.retained() >= kept.limit * 98 / 100);
    }
}

TEST_CASE("each count has its name: another keeper's, and one that begins anew because records went uncounted") {
    Kept kept;
    std::set<std::uint64_t> names;
    const auto note_name = [&] {
        auto& ring = kept.plain.log.marks->sizes;
        const auto& mark = ring.marks[(ring.written.load(std::memory_order_acquire) - 1) % layout::kMarks];
        names.insert(seal_of({mark.offset.load(std::memory_order_acquire), mark.measure.load(std::memory_order_acquire)},
                             mark.origin.load(std::memory_order_acquire)));
    };
    for (int count = 0; count < 3; ++count) {
        kept.append(10);
        kept.restart();
        kept.step();
        note_name();
        kept.append(10);
        kept.step();
        note_name();
        CHECK(names.size() == static_cast<std::size_t>(count) + 1);
    }
    kept.append(10);
    kept.start = kept.end;
    kept.step();
    note_name();
    CHECK(names.size() == 4);
}

TEST_CASE("more records than a step looks at are sampled, to about 1 %, also when large and small ones alternate") {
    Kept kept(1 << 17);
    kept.limit = 5'000'000;
    kept.append(10);
    kept.settle();
    const std::uint64_t period = GENERATE(2U, 16U, 24U);
    for (int round = 0; round < 30; ++round) {
        kept.append(12'288, [=](std::uint64_t offset) { return offset % period == 0 ? 150U : 50U; });
        kept.step();
        CHECK_FALSE(kept.keeper->unfinished());
        CHECK(kept.retained() <= kept.limit * 101 / 100);
        if (kept.start > 0) CHECK(kept.retained() >= kept.limit * 98 / 100);
    }
    CHECK(kept.start > 0);
}

TEST_CASE("a limit that is lowered below the distance of the marks is met exactly all the same") {
    Kept kept;
    kept.limit = 100'000;
    kept.append(1000);
    kept.settle();
    CHECK(kept.start == 0);
    kept.limit = GENERATE(50'000U, 600U, 100U);
    kept.settle();
    const auto least = kept.limit * 98 / 100 / 100 * 100;  // whole records
    CHECK(kept.retained() <= kept.limit);
    CHECK(kept.retained() >= least);
    const bool again = GENERATE(false, true);
    if (again) kept.restart();
    kept.append(100);
    kept.settle();
    CHECK(kept.retained() <= kept.limit);
    CHECK(kept.retained() >= least);
}

TEST_CASE("a limit that is raised keeps what is there") {
    Kept kept;
    kept.limit = 1'000;
    kept.append(500);
    kept.settle();
    const std::uint64_t start = kept.start;
    kept.limit = 40'000;
    kept.append(300);
    kept.settle();
    CHECK(kept.start == start);
    for (int i = 0; i < 500; ++i) {
        kept.append(1);
        kept.step();
        REQUIRE(kept.retained() <= kept.limit);
    }
    CHECK(kept.retained() >= kept.limit * 98 / 100);
}

TEST_CASE("a limit that is raised is met to a 60th part until the marks of the old one have gone, then to a 120th") {
    constexpr std::uint64_t kRaised = 24'000;
    constexpr std::uint64_t kLength = 10;
    Kept kept(1 << 14);
    kept.limit = kRaised * GENERATE(10U, 30U, 47U, 70U, 90U, 99U) / 100;
    const std::uint64_t restart_after = GENERATE(0U, 100U, 1'000U, 20'000U);
    for (std::uint64_t bytes = 0; bytes < 2 * kRaised; bytes += kLength) {
        kept.append(1, kLength);
        kept.step();
    }
    kept.limit = kRaised;
    for (std::uint64_t appended = 0; appended < 3 * kRaised / kLength; ++appended) {
        if (appended == restart_after / kLength) kept.restart();
        kept.append(1, kLength);
        const std::uint64_t before = kept.start;
        kept.settle();
        INFO(appended);
        REQUIRE(kept.retained() <= kRaised);
        const std::uint64_t part = appended < kRaised / kLength + 10 ? 60 : 120;
        if (kept.start > before) REQUIRE(kept.retained() >= kRaised - kRaised / part - kLength);
    }
}

TEST_CASE("what is above the limit goes also where something else moved the log start between two marks") {
    Kept kept;
    kept.append(1, 50);
    kept.append(119, 100);
    kept.step();
    REQUIRE(kept.start == 0);
    kept.start = 1;
    kept.append(2, 100);
    kept.step();
    CHECK(kept.retained() <= kept.limit);
    CHECK(kept.retained() >= kept.limit - 200);
}

TEST_CASE("the log start that others move takes nothing from the count") {
    Kept kept;
    for (int i = 0; i < 300; ++i) {
        kept.append(1);
        kept.step();
        if (i % 7 == 0) kept.start = std::min(kept.end, kept.start + 9);
        REQUIRE(kept.retained() <= kept.limit);
    }
    kept.start = kept.end;
    kept.append(121);
    kept.step();
    CHECK(kept.retained() == kept.limit);
}

TEST_CASE("marks of keepers that counted from different places are not mixed") {
    Kept kept;
    kept.append(122);
    // two keepers at once, of which one began when the first record was there, the other one when it was gone
    auto& ring = kept.plain.log.marks->sizes;
    const std::uint64_t measure = GENERATE(100U, 300U);
    write_mark(ring, {1, 100}, 3);
    write_mark(ring, {2, measure}, 4);
    kept.start = 1;
    kept.settle();
    CHECK(kept.retained() == kept.limit);
}

TEST_CASE("whatever two keepers at once leave, the next one keeps between 99 % and 100 %") {
    std::mt19937_64 random(20261201);
    for (int round = 0; round < 1000; ++round) {
        Kept kept(4096);
        kept.limit = 1'200;
        const auto append = [&] {
            kept.append(random() % 32, [&](std::uint64_t) { return static_cast<std::uint32_t>(random() % 8); });
        };
        ByBytes<HookedMemory> other(kept.plain.log);
        Span seen_by_other;
        for (std::uint64_t steps = random() % 60; steps > 0; --steps) {
            append();
            const std::uint64_t what = random() % 32;
            if (what < 12) kept.step();
            if (what == 12) kept.restart();
            if (what == 13) kept.start = std::min(kept.end, kept.start + random() % 200);  // a limit of another kind
            if (what > 13 && what < 20) seen_by_other = {kept.start, kept.end};            // and is stopped
            if (what > 17) (void)other.step(kept.limit, seen_by_other, {++kept.now_ns, 1});
        }
        kept.restart();
        for (int step = 0; step < 60; ++step) {
            const std::uint64_t before = kept.start;
            kept.settle();
            INFO(round << ' ' << step);
            REQUIRE(kept.retained() <= kept.limit);
            if (kept.start > before) REQUIRE(kept.retained() >= kept.limit - 10 - 16);
            append();
        }
    }
}

TEST_CASE("marks of bytes that anybody scribbled delete nothing beyond the log end and stop no keeper") {
    Kept kept;
    kept.append(300);
    kept.settle();
    auto& ring = kept.plain.log.marks->sizes;
    const std::uint64_t word = GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{299}, std::uint64_t{1} << 40, ~std::uint64_t{0});
    const int field = GENERATE(0, 1, 2, 3, 4);
    for (auto& mark : ring.marks) {
        if (field == 0 || field == 4) mark.offset.store(word, std::memory_order_release);
        if (field == 1 || field == 4) mark.measure.store(word, std::memory_order_release);
        if (field == 2) mark.origin.store(word, std::memory_order_release);
    }
    if (field == 3) ring.written.store(word, std::memory_order_release);
    const std::uint64_t start = kept.start;
    kept.step();
    CHECK(kept.start == start);
    kept.restart();
    kept.settle();
    CHECK(kept.start <= kept.end);
    kept.append(400);
    kept.settle();
    CHECK(kept.start <= kept.end);
    CHECK(kept.retained() <= kept.limit);
}
