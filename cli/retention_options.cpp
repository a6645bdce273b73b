// The limits of a topic's retention on the command line and in its output.
#include "retention_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "durations.hpp"
#include "errors.hpp"
#include "numbers.hpp"

namespace ringmain::cli {

namespace {

constexpr std::string_view kAge = "--retention-age";
constexpr std::string_view kRecords = "--retention-records";
constexpr std::string_view kBytes = "--retention-bytes";

std::chrono::milliseconds parse_age(std::string_view text) {
    if (text == "none")
        return {};
    const auto age = parse_duration(text);
    if (!age) {
        throw UsageError(
            fmt::format("{}: '{}' is neither none nor a duration (digits, then ms, s, m, h or d)", kAge, text));
    }
    if (*age < kRetentionAgeMin || *age > kRetentionAgeMax) {
        throw UsageError(fmt::format("{}: '{}' is outside {} to {}", kAge, text, format_duration(kRetentionAgeMin),
                                     format_duration(kRetentionAgeMax)));
    }
    return std::chrono::duration_cast<std::chrono::milliseconds>(*age);
}

}  // namespace

void RetentionArguments::apply_to(Retention& retention) const noexcept {
    retention.age = age.value_or(retention.age);
    retention.records = records.value_or(retention.records);
    retention.bytes = bytes.value_or(retention.bytes);
}

void add_retention_options(CLI::App& command, RetentionArguments& arguments) {
    command
        .add_option_function<std::string>(
            std::string(kAge), [&arguments](const std::string& text) { arguments.age = parse_age(text); },
            "How long records are kept after they were appended: 100ms to 36500d, or none (default)")
        ->type_name("AGE");
    command
        .add_option_function<std::string>(
            std::string(kRecords),
            [&arguments](const std::string& text) {
                arguments.records = text == "none" ? 0 : parse_size(kRecords, text, {1, kRetentionRecordsMax});
            },
            "How many records each partition keeps: 1 to 256M, or none (default)")
        ->type_name("N");
    command
        .add_option_function<std::string>(
            std::string(kBytes),
            [&arguments](const std::string& text) {
                arguments.bytes = text == "none" ? 0 : parse_size(kBytes, text, {1, kRetentionBytesMax});
            },
            "How many bytes of keys, values and headers each partition keeps: 1 to 1024G, or none (default)")
        ->type_name("B");
}

std::chrono::milliseconds late_at_most(const Retention& retention) noexcept {
    constexpr std::chrono::milliseconds kSecond{1000};
    return std::max(kSecond, retention.age / 100);
}

std::string retention_to_text(const Retention& retention) {
    if (retention == Retention{})
        return "none: records go when room is needed";
    std::string text;
    const auto add = [&text](const std::string& limit) { text.append(text.empty() ? "" : ", ").append(limit); };
    if (retention.age.count() != 0)
        add("age " + format_duration(retention.age));
    if (retention.records != 0)
        add(counted(retention.records, "record"));
    if (retention.bytes != 0)
        add(format_bytes(retention.bytes) + " of keys, values and headers");
    return text + "; per partition, whichever is met first";
}

std::string lateness_to_text(const Retention& retention) {
    if (retention == Retention{})
        return {};
    std::string text = "while a keeper runs, ";
    if (retention.age.count() != 0)
        text += fmt::format("records are at most {} older than the age{}", format_duration_up(late_at_most(retention)),
                            retention.records != 0 || retention.bytes != 0 ? ", and " : "");
    if (retention.records != 0 || retention.bytes != 0)
        text += "what is more than the limit, or 1 % more, goes within a second";
    return text;
}

}  // namespace ringmain::cli
