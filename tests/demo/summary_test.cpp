// The demo's bookkeeping: summaries per key, order checks, time histograms and texts.
#include "cli/demo_summary.hpp"

#include <cstdint>
#include <memory>

#include "cli/demo_histogram.hpp"
#include "cli/demo_text.hpp"
#include "support/catch.hpp"

using namespace ringmain::cli::demo;

TEST_CASE("A summary keeps last, min, max and count of every key") {
    Summary summary;
    summary.apply("a", 1, "5");
    summary.apply("b", 1, "text");
    summary.apply("a", 2, "-2.5");
    summary.apply("a", 3, "");
    const KeySummary& a = summary.keys().at("a");
    CHECK(a.last.empty());
    CHECK(a.count == 3);
    CHECK(a.numbers == 2);
    CHECK(a.min == -2.5);
    CHECK(a.max == 5);
    CHECK(summary.keys().at("b").numbers == 0);
    CHECK(summary.violations() == 0);
    CHECK(summary.missing() == 0);
}

TEST_CASE("A summary counts repeated and reversed sequence numbers as violations, and jumps as missing") {
    Summary summary;
    for (const std::uint64_t sequence : {1, 2, 5, 4, 5, 6})
        summary.apply("a", sequence, "1");
    CHECK(summary.violations() == 2);
    CHECK(summary.missing() == 2);
    summary.apply("b", 3, "1");
    CHECK(summary.missing() == 4);
}

TEST_CASE("Summaries of the same records have the same digest in any order of keys, and others have not") {
    Summary one;
    Summary other;
    for (std::uint64_t sequence = 1; sequence <= 50; ++sequence) {
        one.apply("a", sequence, std::to_string(sequence));
        one.apply("b", sequence, "x");
    }
    for (std::uint64_t sequence = 1; sequence <= 50; ++sequence)
        other.apply("b", sequence, "x");
    for (std::uint64_t sequence = 1; sequence <= 49; ++sequence)
        other.apply("a", sequence, std::to_string(sequence));
    CHECK(one.digest() != other.digest());
    other.apply("a", 50, "50");
    CHECK(one.digest() == other.digest());
    other.apply("", 1, "");
    CHECK(one.digest() != other.digest());
}

TEST_CASE("A histogram's percentiles are at most a thirty-second above the true ones, and its maximum is exact") {
    const auto histogram = std::make_unique<Histogram>();
    for (std::int64_t value = 1; value <= 100'000; ++value)
        histogram->add(value * 37);
    for (const std::uint64_t per_100k : {1'000U, 50'000U, 99'000U, 99'900U}) {
        const auto exact = static_cast<double>(per_100k * 37);
        const auto found = static_cast<double>(histogram->percentile_ns(per_100k));
        CHECK(found >= exact);
        CHECK(found <= exact * (1 + 1.0 / 32) + 1);
    }
    CHECK(histogram->max_ns() == 3'700'000);
    CHECK(histogram->percentile_ns(100'000) == 3'700'000);
    CHECK(histogram->count() == 100'000);
}

TEST_CASE("A histogram takes values below zero, of zero and above its range") {
    const auto histogram = std::make_unique<Histogram>();
    CHECK(histogram->percentile_ns(50'000) == 0);
    histogram->add(-5);
    histogram->add(0);
    histogram->add(INT64_MAX);
    CHECK(histogram->count() == 3);
    CHECK(histogram->percentile_ns(50'000) == 0);
    CHECK(histogram->max_ns() == static_cast<std::uint64_t>(INT64_MAX));
}

TEST_CASE("Numbers and times are printed for people") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1'234'567) == "1,234,567");
    CHECK(grouped(UINT64_MAX) == "18,446,744,073,709,551,615");
    CHECK(duration(999) == "999 ns");
    CHECK(duration(12'345) == "12.3 us");
    CHECK(duration(999'900) == "1.00 ms");
    CHECK(duration(4'560'000) == "4.56 ms");
    CHECK(duration(61'000'000'000) == "61.0 s");
    CHECK(rate(12.4) == "12");
    CHECK(rate(12'345) == "12.3 k");
    CHECK(rate(999'900) == "1.00 M");
}
