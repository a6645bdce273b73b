// Retention by age: by the order of appending, whatever clocks, boots, damage and deaths of keepers do to it.
#include <cstdint>
#include <optional>

#include "retention/by_age.hpp"

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::retention;
using test::HookedMemory;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1000 * kMs;
constexpr std::uint64_t kAge = 10 * kSecond;
constexpr std::uint64_t kStep = 10 * kMs;

/// A log that is nothing but its two ends, and a keeper of it at a time of its own.
struct Kept {
    test::PlainLog<HookedMemory> plain;
    std::optional<ByAge<HookedMemory>> keeper;
    Span span;
    Moment now{1'000 * kSecond, 7};
    std::uint64_t age = kAge;

    Kept() { restart(); }
    void restart() { keeper.emplace(plain.log.marks->ages); }
    void step() { span.start = keeper->step(age, span, now); }
    /// Goes on for a while, a step every 10 ms.
    void run(std::uint64_t ns) {
        for (const std::uint64_t until = now.now_ns + ns; now.now_ns < until; now.now_ns += kStep) step();
    }
    /// Appends `per_step` records before each step.
    void append(std::uint64_t ns, std::uint64_t per_step) {
        for (const std::uint64_t until = now.now_ns + ns; now.now_ns < until; now.now_ns += kStep) {
            span.end += per_step;
            step();
        }
    }
};

}  // namespace

TEST_CASE("J08 the last record of an idle topic goes when it is too old") {
    Kept kept;
    kept.run(kSecond);
    kept.span.end = 1;
    kept.run(kAge - kStep);
    CHECK(kept.span.start == 0);
    kept.run(4 * kStep);
    CHECK(kept.span.start == 1);
}

TEST_CASE("a record is never deleted early, and late by a 120th part of the age at most") {
    Kept kept;
    kept.age = GENERATE(500 * kMs, 10 * kSecond, 100 * kSecond);
    // every record's time of appending, which the keeper does not know
    std::vector<std::uint64_t> appended;
    std::uint64_t latest = 0;
    const std::uint64_t until = kept.now.now_ns + 2 * kept.age;
    for (std::uint64_t i = 0; kept.now.now_ns < until; kept.now.now_ns += kStep, ++i) {
        appended.push_back(kept.now.now_ns);
        kept.span.end = appended.size();
        const std::uint64_t before = kept.span.start;
        kept.step();
        for (std::uint64_t offset = before; offset < kept.span.start; ++offset) {
            REQUIRE(kept.now.now_ns - appended[offset] >= kept.age);
            latest = std::max(latest, kept.now.now_ns - appended[offset] - kept.age);
        }
    }
    CHECK(kept.span.start > appended.size() / 4);
    CHECK(latest <= mark_interval_ns(kept.age) + 2 * kStep);
    CHECK(latest <= std::max(kSecond, kept.age / 100));
}

TEST_CASE("a keeper that stops between two looks at the log deletes nothing early") {
    Kept kept;
    kept.span.end = 10;
    kept.step();
    // the next step has read its clock, and sleeps for an hour before it looks at the log
    const Moment read = kept.now;
    kept.span.end = 1000;
    kept.span.start = kept.keeper->step(kAge, kept.span, read);
    kept.now.now_ns += 3600 * kSecond;
    kept.step();
    CHECK(kept.span.start == 10);
    kept.run(kAge);
    CHECK(kept.span.start == 10);
    kept.run(kSecond);
    CHECK(kept.span.start == 1000);
}

TEST_CASE("another keeper goes on from the marks of the first") {
    Kept kept;
    kept.append(5 * kSecond, 1);
    const std::uint64_t end = kept.span.end;
    kept.run(kSecond);
    kept.restart();
    kept.run(4 * kSecond - kStep);
    CHECK(kept.span.start == 0);
    kept.run(3 * kSecond);
    CHECK(kept.span.start > end / 4);
    CHECK(kept.span.start < end);
    kept.run(4 * kSecond);
    CHECK(kept.span.start == end);
}

TEST_CASE("what was appended without a keeper counts from when one saw it") {
    Kept kept;
    kept.append(kSecond, 1);
    kept.span.end += 100;
    kept.now.now_ns += 3600 * kSecond;
    kept.restart();
    kept.step();
    CHECK(kept.span.start < kept.span.end - 100);
    kept.run(kAge - kStep);
    CHECK(kept.span.start <= kept.span.end - 100);
    kept.run(kSecond);
    CHECK(kept.span.start == kept.span.end);
}

TEST_CASE("records of another boot count as appended when this boot first saw them") {
    Kept kept;
    kept.append(5 * kSecond, 1);
    const bool ahead = GENERATE(false, true);
    kept.now = {ahead ? kept.now.now_ns + 100 * kSecond : 5 * kSecond, 8};
    kept.restart();
    kept.run(kAge - kStep);
    CHECK(kept.span.start == 0);
    kept.run(4 * kStep);
    CHECK(kept.span.start == kept.span.end);
}

TEST_CASE("J11 a clock that goes back delays nothing for ever and deletes nothing early") {
    Kept kept;
    kept.append(5 * kSecond, 1);
    const std::uint64_t back = GENERATE(std::uint64_t{1}, 3 * kSecond, 1'000'000 * kSecond);
    kept.now.now_ns -= std::min(back, kept.now.now_ns);
    const std::uint64_t start = kept.span.start;
    kept.run(4 * kSecond);
    CHECK(kept.span.start == start);
    kept.run(7 * kSecond);
    CHECK(kept.span.start == kept.span.end);
}

TEST_CASE("an age that is changed counts from the next step on") {
    Kept kept;
    kept.append(5 * kSecond, 1);
    kept.age = 1 * kSecond;
    kept.run(2 * kSecond);
    CHECK(kept.span.start == kept.span.end);
    kept.append(5 * kSecond, 1);
    kept.run(2 * kSecond);
    const std::uint64_t end = kept.span.end += 10;
    kept.step();
    kept.age = 3600 * kSecond;
    kept.run(100 * kSecond);
    CHECK(kept.span.start == end - 10);
}

TEST_CASE("an age that is raised is met to a 60th part until the marks of the old one have gone, then to a 120th") {
    Kept kept;
    kept.age = 100 * kSecond * GENERATE(10U, 70U, 99U) / 100;
    const bool again = GENERATE(false, true);
    std::vector<std::uint64_t> appended;
    const std::uint64_t raised_at = kept.now.now_ns + 2 * kept.age;
    const std::uint64_t until = raised_at + 250 * kSecond;
    for (; kept.now.now_ns < until; kept.now.now_ns += kStep) {
        if (kept.now.now_ns >= raised_at && kept.age != 100 * kSecond) kept.age = 100 * kSecond;
        if (again && kept.now.now_ns == raised_at + 50 * kSecond) kept.restart();
        appended.push_back(kept.now.now_ns);
        kept.span.end = appended.size();
        const std::uint64_t before = kept.span.start;
        kept.step();
        const std::uint64_t part = kept.now.now_ns < raised_at + 102 * kSecond ? 60 : 120;
        if (kept.now.now_ns < raised_at || kept.span.start == before) continue;
        INFO((kept.now.now_ns - raised_at) / kMs << " ms after it was raised");
        REQUIRE(kept.now.now_ns - appended[kept.span.start - 1] >= kept.age);
        REQUIRE(kept.now.now_ns - appended[before] <= kept.age + kept.age / part + 2 * kStep);
    }
    CHECK(kept.span.start > 0);
}

TEST_CASE("marks that a gate's records outlive crowd out none of the others") {
    Kept kept;
    // a gate holds everything for ten times the age, then lets go
    for (const std::uint64_t until = kept.now.now_ns + 10 * kAge; kept.now.now_ns < until; kept.now.now_ns += kStep) {
        ++kept.span.end;
        (void)kept.keeper->step(kAge, kept.span, kept.now);
    }
    kept.step();
    const std::uint64_t left = (kept.span.end - kept.span.start) * kStep;
    CHECK(left >= kAge);
    CHECK(left <= kAge + kAge / 120 + 2 * kStep);
}

TEST_CASE("a limit that was taken away and comes back finds the marks of before") {
    Kept kept;
    kept.append(kSecond, 1);
    kept.run(kSecond);
    kept.keeper->forget();
    kept.now.now_ns += kAge;
    kept.step();
    CHECK(kept.span.start == kept.span.end);
}

TEST_CASE("an age of years needs no more marks than there are") {
    Kept kept;
    kept.age = 36'500ULL * 24 * 3600 * kSecond;
    for (int i = 0; i < 1000; ++i) {
        kept.span.end += 1;
        kept.step();
        kept.now.now_ns += kept.age / 200;
    }
    CHECK(kept.span.start >= 1000 - 200 - 4);
    CHECK(kept.span.start <= 1000 - 200);
}

TEST_CASE("marks that anybody scribbled delete nothing beyond the log end and stop no keeper") {
    Kept kept;
    kept.append(2 * kSecond, 1);
    auto& ring = kept.plain.log.marks->ages;
    const std::uint64_t word = GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{150}, std::uint64_t{1} << 40, ~std::uint64_t{0});
    const int field = GENERATE(0, 1, 2, 3);
    for (auto& mark : ring.marks) {
        if (field == 0) mark.offset.store(word, std::memory_order_release);
        if (field == 1) mark.measure.store(word, std::memory_order_release);
        if (field == 2) mark.origin.store(word, std::memory_order_release);
    }
    if (field == 3) ring.written.store(word, std::memory_order_release);
    // the running keeper looks at its own
    const std::uint64_t start = kept.span.start;
    kept.run(kSecond);
    CHECK(kept.span.start == start);
    kept.restart();
    kept.run(2 * kAge);
    CHECK(kept.span.start == kept.span.end);
    kept.append(kSecond, 1);
    kept.run(2 * kAge);
    CHECK(kept.span.start == kept.span.end);
}

TEST_CASE("a keeper with nothing to expire is not due, and one that waits for an age is due then") {
    Kept kept;
    kept.run(kSecond);
    CHECK(kept.keeper->due_ns(kAge, kept.span.start) == kNever);
    kept.span.end = 5;
    kept.step();
    CHECK(kept.keeper->due_ns(kAge, kept.span.start) <= kept.now.now_ns);  // to mark it
    kept.now.now_ns += kStep;
    kept.step();
    CHECK(kept.keeper->due_ns(kAge, kept.span.start) == kept.now.now_ns + kAge);
    kept.span.end = 6;
    kept.now.now_ns += kStep;
    kept.step();
    CHECK(kept.keeper->due_ns(kAge, kept.span.start) == kept.now.now_ns - kStep + mark_interval_ns(kAge));
    CHECK(kept.keeper->due_ns(kAge, 6) == kNever);  // others deleted them
}
