// Retries as text.
#include "retry_report.hpp"

#include <fmt/format.h>

#include "durations.hpp"
#include "numbers.hpp"
#include "table.hpp"

namespace ringmain::cli {

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

std::string backoff_to_text(const Backoff& backoff) {
    return fmt::format("{}, growing {}-fold up to {}, each {:g} % longer or shorter", format_duration(backoff.first),
                       backoff.factor, format_duration(backoff.max), backoff.jitter * 100);
}

std::string exhausted_to_text(Exhausted exhausted, std::string_view dead_letter_topic, bool dead_letters_gone) {
    switch (exhausted) {
        case Exhausted::dead_letter:
            return fmt::format("to the dead letters, topic {}{}", dead_letter_topic,
                               dead_letters_gone ? ", which is gone" : "");
        case Exhausted::skip:
            return "skipped";
        case Exhausted::stop:
            return "its partition stops";
    }
    return "unknown";
}

std::string retry_options_to_text(const GroupDescription& group) {
    if (!group.retries)
        return {};
    const RetryDescription& retries = *group.retries;
    if (retries.attempts == 0)
        return fmt::format("retries           damaged: {}\n", retries.damage);
    std::string text = fmt::format("attempts          {}\nback-off          {}\nexhausted         {}\n", retries.attempts,
                                   backoff_to_text(retries.backoff),
                                   exhausted_to_text(retries.exhausted, retries.dead_letter_topic, retries.dead_letters_gone));
    if (!retries.damage.empty())
        text.append(fmt::format("retries           damaged: {}\n", retries.damage));
    return text;
}

std::string retries_to_text(const GroupDescription& group) {
    Table table({"PARTITION", "WAITING", "IN-HAND", "ENDING", "FINISHED", "REDELIVERED", "RETURNED", "DEAD-LETTERED",
                 "SKIPPED", "LOST", "LETTERS-REFUSED"});
    bool any = false;
    for (const GroupPartitionDescription& partition : group.partitions) {
        if (!partition.retries)
            continue;
        any = true;
        const RetryPartitionDescription& of = *partition.retries;
        table.add({number(partition.lag.partition), number(of.waiting), number(of.in_hand), number(of.ending),
                   number(of.finished), number(of.redelivered), number(of.returned), number(of.dead_lettered),
                   number(of.skipped), number(of.lost), number(of.letters_refused)});
    }
    return any ? table.text() : std::string();
}

}  // namespace ringmain::cli
