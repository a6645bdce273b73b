// Groups whose records are retried, and whose dead letters find no way.
#include <fmt/format.h>

#include "doctor_examination.hpp"
#include "numbers.hpp"

namespace ringmain::cli {

namespace {

struct RetryTotals {
    std::uint64_t ending = 0;
    std::uint64_t letters_refused = 0;
};

RetryTotals totals_of(const GroupDescription& group) {
    RetryTotals totals;
    for (const GroupPartitionDescription& partition : group.partitions) {
        if (!partition.retries)
            continue;
        totals.ending += partition.retries->ending;
        totals.letters_refused += partition.retries->letters_refused;
    }
    return totals;
}

void examine_link(const BrokerStats& stats, const GroupDescription& group, Findings& findings) {
    Finding& finding = findings.emplace_back(make_finding(
        "letters-gone", group_object(group),
        fmt::format("sends its dead letters to topic '{}', which was deleted, or is another one by now; waiting for one: {}. End its "
                    "members, link it to the topic of that name, which is created if it is not there, and start them again",
                    group.retries->dead_letter_topic, counted(totals_of(group).ending, "record"))));
    finding.command =
        ringmain_command(stats, fmt::format("dlq relink {} --group {}", shell_word(group.topic), shell_word(group.name)));
}

/// Only while records wait for it: what was refused and has found room since is no finding.
void examine_room(const BrokerStats& stats, const GroupDescription& group, Findings& findings) {
    const RetryTotals totals = totals_of(group);
    if (totals.letters_refused == 0 || totals.ending == 0 || group.retries->dead_letter_topic.empty())
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "letters-refused", group_object(group),
        fmt::format("has {} waiting for room in the dead-letter topic '{}', which is full or refuses",
                    counted(totals.ending, "record"), group.retries->dead_letter_topic)));
    finding.command = ringmain_command(stats, "dlq list " + shell_word(group.retries->dead_letter_topic));
    finding.mends = false;
}

}  // namespace

void examine_retries(const Examined& examined, Findings& findings) {
    for (const GroupDescription& group : examined.retrying) {
        if (group.retries->dead_letters_gone)
            examine_link(examined.stats, group, findings);
        else
            examine_room(examined.stats, group, findings);
    }
}

}  // namespace ringmain::cli
