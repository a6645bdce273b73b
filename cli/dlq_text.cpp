// Dead letters as text.
#include <fmt/format.h>

#include <iterator>

#include "dlq_report.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

constexpr std::size_t kTextColumnsMax = 60;

std::string time_or_dash(std::int64_t ns) { return ns != 0 ? format_time_ns(ns) : "-"; }

std::string count_of(const LetterGroupSummary& group, DeadLetterReason reason) {
    return std::to_string(group.by_reason.at(static_cast<std::size_t>(reason)));
}

std::string shown(std::string_view text) { return text.empty() ? "-" : cut_to(printable(text), kTextColumnsMax); }

std::string origin_of(const DeadLetter& letter) {
    return fmt::format("{}/{}/{}", letter.topic, letter.partition, letter.offset);
}

void add_reason(std::string& text, std::uint64_t count, std::string_view why) {
    if (count != 0)
        fmt::format_to(std::back_inserter(text), ", {} {}", count, why);
}

}  // namespace

std::string letters_to_text(const std::vector<DeadLetterSummary>& topics) {
    Table table(
        {"<DEAD-LETTERS", "<TOPIC", "<GROUP", "LETTERS", "LIMIT", "REJECTED", "EXPIRED", "DIED", "<OLDEST", "<NEWEST"});
    for (const DeadLetterSummary& topic : topics) {
        for (const LetterGroupSummary& group : topic.groups) {
            table.add({topic.topic, group.topic, printable(group.group), std::to_string(group.letters),
                       count_of(group, DeadLetterReason::limit), count_of(group, DeadLetterReason::rejected),
                       count_of(group, DeadLetterReason::expired), count_of(group, DeadLetterReason::worker_died),
                       time_or_dash(group.oldest_ns), time_or_dash(group.newest_ns)});
        }
        if (topic.others != 0)
            table.add({topic.topic, "(no letters)", "-", std::to_string(topic.others), "-", "-", "-", "-", "-", "-"});
        if (topic.letters + topic.others == 0)
            table.add({topic.topic, "-", "-", "0", "-", "-", "-", "-", "-", "-"});
    }
    return table.text();
}

Table letter_table() {
    return Table({"PARTITION", "OFFSET", "<WRITTEN", "<FROM", "<GROUP", "<REASON", "ATTEMPTS", "<KEY", "<LAST-ERROR"});
}

void add_letter(Table& table, const ConsumerRecord& record, const DecodedLetter& decoded) {
    const std::string key = record.key ? shown(as_text(*record.key)) : "-";
    const std::string partition = std::to_string(record.partition);
    const std::string offset = std::to_string(record.offset);
    if (!decoded.letter) {
        table.add({partition, offset, time_or_dash(record.timestamp_ns), "-", "-", "no letter", "-", key,
                   shown(decoded.problem)});
        return;
    }
    const DeadLetter& letter = *decoded.letter;
    table.add({partition, offset, time_or_dash(record.timestamp_ns), origin_of(letter), printable(letter.group),
               fmt::format("{}{}", to_string(letter.reason), letter.value_lost ? ", record lost" : ""),
               std::to_string(letter.attempts), key, shown(letter.last_error)});
}

std::uint64_t kept(const LettersReplayed& done) noexcept {
    return done.no_letters + done.value_lost + done.topic_gone + done.too_large + done.refused;
}

std::string replayed_to_text(const std::string& topic, const LettersReplayed& done, bool dry_run) {
    std::string text = fmt::format("{}: {} of {} {}", topic, done.replayed, counted(done.matched, "letter"),
                                   dry_run ? "would be replayed" : "replayed");
    add_reason(text, done.found_replayed, "more had been by a replay that was interrupted");
    add_reason(text, done.topic_gone, "stay because their topic is gone");
    add_reason(text, done.too_large, "stay because they are too large");
    add_reason(text, done.refused, "stay because their topic takes none now");
    add_reason(text, done.value_lost, "stay because their record is lost");
    add_reason(text, done.no_letters, "stay because they are no letters");
    return text.append(done.stopped ? "; stopped before the last one\n" : "\n");
}

std::string purged_to_text(const std::string& topic, const LettersPurged& done, bool dry_run) {
    if (dry_run)
        return fmt::format("{}: {} would be purged\n", topic, counted(done.matched, "letter"));
    return fmt::format("{}: {} purged{}\n", topic, counted(done.purged, "letter"),
                       done.stopped ? "; stopped before the last one" : "");
}

}  // namespace ringmain::cli
