// Reading and writing points in time.
#include "times.hpp"

#include <fmt/core.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>

#include "errors.hpp"

namespace ringmain::cli {

namespace {

constexpr std::int64_t kNsPerMillisecond = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

/// A calendar time as written; `zone_s` is east of UTC, or nothing for local time.
struct CalendarTime {
    std::chrono::year_month_day day;
    std::int64_t second_of_day = 0;
    std::int64_t nanosecond = 0;
    std::optional<std::int64_t> zone_s;
};

/// Takes pieces off the front of a text. Each function answers whether the piece was there.
class Scanner {
public:
    explicit Scanner(std::string_view text) noexcept : rest_(text) {}

    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

    bool take_any(std::string_view characters) noexcept {
        if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos)
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    /// Exactly `digits` digits, at most `max`.
    bool take_number(std::size_t digits, std::int64_t max, std::int64_t& value) noexcept {
        if (rest_.size() < digits)
            return false;
        value = 0;
        for (const char c : rest_.substr(0, digits)) {
            if (c < '0' || c > '9')
                return false;
            value = value * 10 + (c - '0');
        }
        rest_.remove_prefix(digits);
        return value <= max;
    }

    /// One to nine digits after the decimal point, as nanoseconds.
    bool take_fraction(std::int64_t& nanosecond) noexcept {
        std::size_t digits = 0;
        nanosecond = 0;
        for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
            if (digits == 9)
                return false;
            nanosecond = nanosecond * 10 + (rest_[digits] - '0');
        }
        rest_.remove_prefix(digits);
        for (std::size_t i = digits; i < 9; ++i)
            nanosecond *= 10;
        return digits > 0;
    }

private:
    std::string_view rest_;
};

bool scan_day(Scanner& scanner, CalendarTime& time) {
    std::int64_t year = 0;
    std::int64_t month = 0;
    std::int64_t day = 0;
    if (!scanner.take_number(4, 9999, year) || !scanner.take_any("-") || !scanner.take_number(2, 12, month) ||
        !scanner.take_any("-") || !scanner.take_number(2, 31, day)) {
        return false;
    }
    time.day = std::chrono::year(static_cast<int>(year)) / std::chrono::month(static_cast<unsigned>(month)) /
               std::chrono::day(static_cast<unsigned>(day));
    return time.day.ok();
}

bool scan_clock(Scanner& scanner, CalendarTime& time) {
    std::int64_t hour = 0;
    std::int64_t minute = 0;
    std::int64_t second = 0;
    if (!scanner.take_number(2, 23, hour) || !scanner.take_any(":") || !scanner.take_number(2, 59, minute))
        return false;
    if (scanner.take_any(":")) {
        if (!scanner.take_number(2, 59, second))
            return false;
        if (scanner.take_any(".,") && !scanner.take_fraction(time.nanosecond))
            return false;
    }
    time.second_of_day = hour * 3600 + minute * 60 + second;
    return true;
}

bool scan_zone(Scanner& scanner, CalendarTime& time) {
    if (scanner.take_any("Zz")) {
        time.zone_s = 0;
        return true;
    }
    const bool east = scanner.take_any("+");
    if (!east && !scanner.take_any("-"))
        return false;
    std::int64_t hour = 0;
    std::int64_t minute = 0;
    if (!scanner.take_number(2, 23, hour))
        return false;
    const bool has_colon = scanner.take_any(":");
    if ((has_colon || !scanner.at_end()) && !scanner.take_number(2, 59, minute))
        return false;
    time.zone_s = (east ? 1 : -1) * (hour * 3600 + minute * 60);
    return true;
}

std::optional<CalendarTime> scan_calendar_time(std::string_view text) {
    Scanner scanner(text);
    CalendarTime time;
    if (!scan_day(scanner, time))
        return std::nullopt;
    if (scanner.at_end())
        return time;
    if (!scanner.take_any("Tt ") || !scan_clock(scanner, time))
        return std::nullopt;
    if (!scanner.at_end() && !scan_zone(scanner, time))
        return std::nullopt;
    if (!scanner.at_end())
        return std::nullopt;
    return time;
}

/// Nothing if the time zone has no such time. Of two equal local times in autumn the C library picks one.
std::optional<std::int64_t> seconds_of_local_time(const CalendarTime& time) {
    std::tm wanted{};
    wanted.tm_year = static_cast<int>(time.day.year()) - 1900;
    wanted.tm_mon = static_cast<int>(static_cast<unsigned>(time.day.month())) - 1;
    wanted.tm_mday = static_cast<int>(static_cast<unsigned>(time.day.day()));
    wanted.tm_hour = static_cast<int>(time.second_of_day / 3600);
    wanted.tm_min = static_cast<int>(time.second_of_day / 60 % 60);
    wanted.tm_sec = static_cast<int>(time.second_of_day % 60);
    wanted.tm_isdst = -1;
    std::tm found = wanted;
    const std::time_t seconds = std::mktime(&found);  // -1 is also one second before the epoch, so compare the fields
    const bool exists = found.tm_mday == wanted.tm_mday && found.tm_hour == wanted.tm_hour &&
                        found.tm_min == wanted.tm_min && found.tm_sec == wanted.tm_sec;
    return exists ? std::optional<std::int64_t>(seconds) : std::nullopt;
}

std::optional<std::int64_t> seconds_since_epoch(const CalendarTime& time) {
    if (!time.zone_s)
        return seconds_of_local_time(time);
    const std::int64_t days = std::chrono::sys_days(time.day).time_since_epoch().count();
    return days * kSecondsPerDay + time.second_of_day - *time.zone_s;
}

/// count * unit_ns + rest_ns, or nothing if 64 bits cannot hold it. Requires 0 <= rest_ns < unit_ns.
std::optional<std::int64_t> nanoseconds_of(std::int64_t count, std::int64_t unit_ns, std::int64_t rest_ns) {
    if (count < 0 && rest_ns > 0) {  // both terms get one sign, so that the product overflows only if the sum does
        ++count;
        rest_ns -= unit_ns;
    }
    std::int64_t time_ns = 0;
    if (__builtin_mul_overflow(count, unit_ns, &time_ns) || __builtin_add_overflow(time_ns, rest_ns, &time_ns)) {
        return std::nullopt;
    }
    return time_ns;
}

/// The value of an optional minus sign and up to 19 digits; nothing if the text is anything else.
std::optional<std::int64_t> scan_milliseconds(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative)
        text.remove_prefix(1);
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    std::int64_t value = 0;
    for (const char c : text) {
        // Saturates: whatever is larger is refused for its size, not for its form.
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
            value = INT64_MAX / 10;
    }
    return negative ? -value : value;
}

}  // namespace

std::int64_t parse_time_ns(std::string_view option, std::string_view text) {
    std::optional<std::int64_t> time_ns;
    if (const auto milliseconds = scan_milliseconds(text)) {
        time_ns = nanoseconds_of(*milliseconds, kNsPerMillisecond, 0);
    } else {
        const std::optional<CalendarTime> time = scan_calendar_time(text);
        if (!time) {
            throw UsageError(
                fmt::format("{}: '{}' is no time: give milliseconds since the epoch or ISO 8601, e.g. "
                            "2026-01-02T03:04:05Z",
                            option, text));
        }
        const std::optional<std::int64_t> seconds = seconds_since_epoch(*time);
        if (!seconds)
            throw UsageError(fmt::format("{}: '{}' does not exist in the local time zone", option, text));
        time_ns = nanoseconds_of(*seconds, kNsPerSecond, time->nanosecond);
    }
    if (!time_ns) {
        throw UsageError(fmt::format("{}: '{}' is outside what 64-bit nanoseconds hold, {} to {}", option, text,
                                     format_time_ns(INT64_MIN), format_time_ns(INT64_MAX)));
    }
    return *time_ns;
}

std::string format_time_ns(std::int64_t time_ns) {
    using namespace std::chrono;
    // Whole seconds first: the midnight before the earliest time is outside 64-bit nanoseconds.
    const bool has_borrow = time_ns % kNsPerSecond < 0;
    const sys_seconds time{seconds(time_ns / kNsPerSecond - (has_borrow ? 1 : 0))};
    const std::int64_t nanosecond = time_ns % kNsPerSecond + (has_borrow ? kNsPerSecond : 0);
    const sys_days midnight = floor<days>(time);
    const year_month_day day(midnight);
    const hh_mm_ss<seconds> clock(time - midnight);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(day.year()),
                       static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(), nanosecond);
}

std::int64_t floor_milliseconds(std::int64_t time_ns) noexcept {
    return time_ns / kNsPerMillisecond - (time_ns % kNsPerMillisecond < 0 ? 1 : 0);
}

}  // namespace ringmain::cli
