// Judging a run: every comparison is exact.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "demo_text.hpp"
#include "orders_labels_checks.hpp"
#include "orders_report.hpp"

namespace ringmain::cli::orders {

namespace {

using demo::Check;
using demo::grouped;

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

std::uint64_t published(const RunResult& result) noexcept {
    std::uint64_t sum = 0;
    for (const ProducerPanel& panel : result.board.producers)
        sum += load(panel.published);
    return sum;
}

Check check_published(const RunResult& result) {
    return {"every order is in the log, whole",
            published(result) == result.plan.events() &&
                load(result.board.house.verified_records) == result.plan.events() &&
                load(result.board.house.damages) == 0,
            fmt::format("{} events published, {} in the log, {} expected; {} findings in the files{}{}",
                        grouped(published(result)), grouped(load(result.board.house.verified_records)),
                        grouped(result.plan.events()), grouped(load(result.board.house.damages)),
                        load(result.board.house.damages) == 0 ? "" : ", first: ", result.board.house.damage.data())};
}

Check check_all_handled(const char* group, const GroupAudit& audit) {
    return {fmt::format("{}: every event of every order was handled at least once", group),
            audit.missing == 0 && audit.unknown == 0,
            fmt::format("{} orders, {} events, {} missing, {} that nobody published", grouped(audit.orders),
                        grouped(audit.distinct), grouped(audit.missing), grouped(audit.unknown))};
}

Check check_order(const char* group, const GroupAudit& audit) {
    return {fmt::format("{}: the events of every order were handled in their order", group),
            audit.first_disorder == 0 && audit.tenure_disorder == 0,
            fmt::format("{} first handlings out of order, {} steps back or over one within a member's turn",
                        grouped(audit.first_disorder), grouped(audit.tenure_disorder))};
}

Check check_handovers(const char* group, const GroupAudit& audit) {
    return {fmt::format("{}: every hand-over went on at what was committed", group), audit.went_behind == 0,
            fmt::format("{} hand-overs, {} of them went back behind it", grouped(audit.handovers),
                        grouped(audit.went_behind))};
}

Check check_repeats(const RunResult& result, std::uint32_t group) {
    const GroupAudit& audit = result.audits[group];
    std::string whose;
    std::uint64_t others = 0;
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        if (audit.repeats[member] == 0)
            continue;
        const auto fate = fate_of(result, member);
        if (!fate)
            others += audit.repeats[member];
        whose += fmt::format("{}{} of {} ({})", whose.empty() ? ": " : ", ", grouped(audit.repeats[member]),
                             kMembers[member].name, fate.value_or("neither killed nor stopped"));
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t repeats : audit.repeats)
        sum += repeats;
    const bool alone = kGroups[group].members == 1;
    return {fmt::format("{}: {}", kGroups[group].name,
                        alone ? "nothing was handled twice"
                              : "only what killed and evicted members had not committed was repeated"),
            others == 0 && sum == audit.repeated(), fmt::format("{} repeated{}", grouped(audit.repeated()), whose)};
}

Check check_stopped(const RunResult& result) {
    const Awakening awakening = awakening_of(result);
    return {fmt::format("{} learned that it was evicted, and was handed out nothing more", kMembers[kStopped].name),
            awakening.told_after_ns.has_value() && awakening.polled == 0,
            fmt::format("{}, {} events handed out after it was continued",
                        awakening.told_after_ns ? "told" : "never told", grouped(awakening.polled))};
}

Check check_lag(const RunResult& result) {
    std::uint64_t lag = 0;
    std::uint64_t gaps = 0;
    for (const GroupPanel& group : result.board.groups)
        lag += load(group.lag);
    for (const MemberPanel& member : result.board.members)
        gaps += load(member.gap_offsets);
    return {"every group is at the end of the log", lag == 0 && gaps == 0,
            fmt::format("lag {}, offsets in gaps {}", grouped(lag), grouped(gaps))};
}

}  // namespace

bool RunResult::good() const noexcept {
    return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.good; });
}

RunResult judge(const Plan& plan, const Records& records, const StageFacts& facts) {
    RunResult result{plan, *records.board, facts, {}, {}, {}, {}};
    for (std::size_t member = 0; member < kMembers.size(); ++member)
        result.journals[member] = records.journals[member].entries();
    result.checks.push_back(check_published(result));
    for (std::uint32_t group = 0; group < kGroups.size(); ++group) {
        GroupAudit& of_group = result.audits[group];
        of_group = audit(group, result.journals, plan.orders(), facts.moments);
        result.checks.push_back(check_all_handled(kGroups[group].name, of_group));
        result.checks.push_back(check_order(kGroups[group].name, of_group));
        result.checks.push_back(check_handovers(kGroups[group].name, of_group));
        result.checks.push_back(check_repeats(result, group));
    }
    result.checks.push_back(check_stopped(result));
    result.checks.push_back(check_lag(result));
    result.labels = audit_labels(label_journals(records.label_journals), plan.orders());
    for (demo::Check& check : check_labels(result))
        result.checks.push_back(std::move(check));
    return result;
}

Awakening awakening_of(const RunResult& result) {
    const auto entries = result.journals[kStopped];
    const std::int64_t from_ns = result.facts.moments.continued_ns;
    Awakening awakening;
    if (const auto told_ns = first_entry_ns(entries, Entry::Kind::evicted, from_ns))
        awakening.told_after_ns = static_cast<std::uint64_t>(*told_ns - from_ns);
    awakening.finished = count_entries(entries, Entry::Kind::handled, from_ns);
    awakening.refused = count_entries(entries, Entry::Kind::fenced, from_ns);
    awakening.polled = load(result.board.members[kStopped].polled_since);
    return awakening;
}

std::optional<std::string> fate_of(const RunResult& result, std::uint32_t member) {
    if (member == kKilled)
        return "killed";
    if (member == kStopped)
        return "stopped";
    if (count_entries(result.journals[member], Entry::Kind::evicted) != 0)
        return "did not get to poll for its session time-out";
    return std::nullopt;
}

}  // namespace ringmain::cli::orders
