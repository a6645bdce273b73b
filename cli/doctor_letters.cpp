// Dead letters that wait for somebody to decide about them.
#include <fmt/format.h>

#include "doctor_examination.hpp"
#include "group_report.hpp"
#include "numbers.hpp"

namespace ringmain::cli {

namespace {

std::string groups_of(const DeadLetterSummary& topic) {
    std::string text;
    for (const LetterGroupSummary& group : topic.groups) {
        text.append(text.empty() ? "" : ", ");
        text.append(fmt::format("{} of group '{}' of topic '{}'", group.letters, printable(group.group), group.topic));
    }
    if (topic.others != 0)
        text.append(fmt::format("{}{} that are none", text.empty() ? "" : ", ", topic.others));
    return text;
}

}  // namespace

void examine_letters(const Examined& examined, Findings& findings) {
    for (const DeadLetterSummary& topic : examined.letters) {
        const std::uint64_t letters = topic.letters + topic.others;
        if (letters == 0 || letters < examined.letters_min)
            continue;
        Finding& finding = findings.emplace_back(
            make_finding("dead-letters", fmt::format("topic '{}'", topic.topic),
                         fmt::format("has {} ({}): replay them when what was wrong is mended, or purge them",
                                     counted(letters, "dead letter"), groups_of(topic))));
        finding.since_ns = topic.oldest_ns;
        finding.command = ringmain_command(examined.stats, "dlq show " + shell_word(topic.topic));
        finding.mends = false;
    }
}

}  // namespace ringmain::cli
