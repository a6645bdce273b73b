// Points in time, as they are written and read.
#include "cli/times.hpp"

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

#include "cli/errors.hpp"
#include "support/catch.hpp"

namespace ringmain::cli {

namespace {

using test::contains;

constexpr std::int64_t kSecond = 1'000'000'000;

/// Sets the local time zone while it lives.
class TimeZone {
public:
    explicit TimeZone(const char* name) {
        if (const char* before = std::getenv("TZ"))
            before_ = before;
        set(name);
    }
    TimeZone(const TimeZone&) = delete;
    TimeZone& operator=(const TimeZone&) = delete;
    ~TimeZone() { set(before_ ? before_->c_str() : nullptr); }

private:
    static void set(const char* name) {
        if (name != nullptr) {
            ::setenv("TZ", name, 1);
        } else {
            ::unsetenv("TZ");
        }
        ::tzset();
    }
    std::optional<std::string> before_;
};

/// A rule of its own instead of a name, so that the test does not need the zone files: UTC+1, in summer UTC+2.
constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

}  // namespace

TEST_CASE("A time in digits is milliseconds since the epoch") {
    CHECK(parse_time_ns("-o", "0") == 0);
    CHECK(parse_time_ns("-o", "1767323045123") == 1767323045123 * 1'000'000);
    CHECK(parse_time_ns("-o", "-1") == -1'000'000);
    CHECK(parse_time_ns("-o", "9223372036854") == 9223372036854 * 1'000'000);
}

TEST_CASE("A time with a zone does not depend on the local one") {
    const TimeZone zone(kBerlin);
    const std::int64_t expected = 1767323045 * kSecond;
    CHECK(parse_time_ns("-o", "2026-01-02T03:04:05Z") == expected);
    CHECK(parse_time_ns("-o", "2026-01-02t03:04:05z") == expected);
    CHECK(parse_time_ns("-o", "2026-01-02 03:04:05Z") == expected);
    CHECK(parse_time_ns("-o", "2026-01-02T04:04:05+01:00") == expected);
    CHECK(parse_time_ns("-o", "2026-01-02T04:04:05+0100") == expected);
    CHECK(parse_time_ns("-o", "2026-01-02T04:04:05+01") == expected);
    CHECK(parse_time_ns("-o", "2026-01-01T21:34:05-05:30") == expected);
    CHECK(parse_time_ns("-o", "2026-01-02T03:04Z") == expected - 5 * kSecond);
}

TEST_CASE("A fraction of a second has one to nine digits") {
    const std::int64_t second = 1767323045 * kSecond;
    CHECK(parse_time_ns("-o", "2026-01-02T03:04:05.5Z") == second + 500'000'000);
    CHECK(parse_time_ns("-o", "2026-01-02T03:04:05,25Z") == second + 250'000'000);
    CHECK(parse_time_ns("-o", "2026-01-02T03:04:05.123456789Z") == second + 123'456'789);
    CHECK(parse_time_ns("-o", "1969-12-31T23:59:59.75Z") == -250'000'000);
    CHECK_THROWS_AS(parse_time_ns("-o", "2026-01-02T03:04:05.Z"), UsageError);
    CHECK_THROWS_AS(parse_time_ns("-o", "2026-01-02T03:04:05.1234567890Z"), UsageError);
}

TEST_CASE("A time without a zone is local, in winter and in summer") {
    const TimeZone zone(kBerlin);
    CHECK(parse_time_ns("-o", "2026-01-02T04:04:05") == 1767323045 * kSecond);
    CHECK(parse_time_ns("-o", "2026-01-02") == parse_time_ns("-o", "2026-01-01T23:00:00Z"));
    CHECK(parse_time_ns("-o", "2026-07-01T12:00") == parse_time_ns("-o", "2026-07-01T10:00Z"));
}

TEST_CASE("A local time that the clock skips in spring is refused") {
    const TimeZone zone(kBerlin);
    CHECK_THROWS_WITH(parse_time_ns("-o", "2026-03-29T02:30:00"), contains("does not exist in the local time zone"));
    CHECK(parse_time_ns("-o", "2026-03-29T03:00:00") == parse_time_ns("-o", "2026-03-29T01:00:00Z"));
}

TEST_CASE("A text that is no time is refused with option and text") {
    for (const char* text : {"",
                             "now",
                             "1e3",
                             "12:00",
                             "2026-13-01",
                             "2026-02-29",
                             "2026-00-10",
                             "2026-1-2",
                             "2026-01-02T",
                             "2026-01-02T24:00",
                             "2026-01-02T03:60",
                             "2026-01-02T03:04:60Z",
                             "2026-01-02T03:04:05+",
                             "2026-01-02T03:04:05+1",
                             "2026-01-02T03:04:05+01:",
                             "2026-01-02T03:04:05Zulu",
                             "2026-01-02X03:04:05Z",
                             "-",
                             "--1",
                             "1767323045123ms"}) {
        INFO("text: '" << text << "'");
        CHECK_THROWS_WITH(parse_time_ns("-o", text), contains("-o") && contains("is no time"));
    }
}

TEST_CASE("A time that 64-bit nanoseconds cannot hold is refused") {
    for (const char* text : {"9223372036855", "-9223372036855", "99999999999999999999999", "2262-04-12T00:00:00Z",
                             "1677-09-21T00:12:43Z", "9999-12-31"}) {
        INFO("text: '" << text << "'");
        CHECK_THROWS_WITH(parse_time_ns("-o", text), contains("outside what 64-bit nanoseconds hold"));
    }
}

TEST_CASE("A time reads back as it was written") {
    CHECK(format_time_ns(0) == "1970-01-01T00:00:00.000000000Z");
    CHECK(format_time_ns(-1) == "1969-12-31T23:59:59.999999999Z");
    CHECK(format_time_ns(1767323045123456789) == "2026-01-02T03:04:05.123456789Z");
    for (const std::int64_t time_ns : {INT64_MIN, INT64_MIN + 1, std::int64_t{-kSecond}, std::int64_t{1}, INT64_MAX}) {
        CHECK(parse_time_ns("-o", format_time_ns(time_ns)) == time_ns);
    }
}

TEST_CASE("Milliseconds round down on both sides of the epoch") {
    CHECK(floor_milliseconds(1'999'999) == 1);
    CHECK(floor_milliseconds(0) == 0);
    CHECK(floor_milliseconds(-1) == -1);
    CHECK(floor_milliseconds(-1'000'000) == -1);
    CHECK(floor_milliseconds(-1'000'001) == -2);
}

}  // namespace ringmain::cli
