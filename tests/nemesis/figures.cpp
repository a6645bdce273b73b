// Adding up and printing figures.
#include "figures.hpp"

#include <algorithm>
#include <ostream>
#include <unordered_map>
#include <unordered_set>

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

bool is_call(Kind kind) { return kind == Kind::invoked || kind == Kind::committing || kind == Kind::settling; }

// These always have something to do, and note it.
bool is_busy(Role role) { return role == Role::producer || role == Role::worker || role == Role::auditor; }

}  // namespace

void Figures::add(const Crew& crew, const Run& run, const Verdict& verdict) {
    signals += crew.signals();
    kills += crew.kills();
    lives += crew.lives();
    for (std::size_t i = 0; i < static_cast<std::size_t>(Fault::count_); ++i)
        counts[i] += verdict.count(static_cast<Fault>(i));
    sums.records += verdict.records;
    sums.acknowledged += verdict.acknowledged;
    sums.reported_lost += verdict.reported_lost;
    sums.skipped += verdict.skipped;
    sums.gaps += verdict.gaps;
    sums.tenures += verdict.tenures;
    sums.redelivered += verdict.redelivered;
    sums.letters += verdict.letters;
    sums.late_acks_refused += verdict.late_acks_refused;
    std::unordered_set<std::uint32_t> killed;
    for (const History& history : run.histories) {
        for (const Event& event : history.events) {
            if (history.role == Role::nemesis && event.kind == Kind::killed)
                killed.insert(event.aux);
        }
    }
    for (const History& history : run.histories) {
        if (killed.contains(history.life) && !history.events.empty() && is_call(history.events.back().kind))
            ++kills_inside;
    }
    measure_gaps(run);
}

void Figures::measure_gaps(const Run& run) {
    std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> stops;  // by life: stopped, continued, ...
    for (const History& history : run.histories) {
        for (const Event& event : history.events) {
            if (history.role == Role::nemesis && (event.kind == Kind::stopped || event.kind == Kind::continued))
                stops[event.aux].push_back(event.time);
        }
    }
    for (const History& history : run.histories) {
        if (!is_busy(history.role))
            continue;
        const std::vector<std::uint64_t>& disturbed = stops[history.life];
        for (std::size_t i = 1; i < history.events.size(); ++i) {
            const std::uint64_t from = history.events[i - 1].time;
            const std::uint64_t to = history.events[i].time;
            if (to - from <= longest_gap_ns)
                continue;
            const auto next = std::lower_bound(disturbed.begin(), disturbed.end(), from);
            if (next != disturbed.end() && (*next <= to || (next - disturbed.begin()) % 2 == 1))
                continue;
            longest_gap_ns = to - from;
            longest_of = history.role;
        }
    }
}

void Figures::print(std::ostream& out) const {
    const auto count = [&](Fault fault) { return counts[static_cast<std::size_t>(fault)]; };
    out << "signals " << signals << ", kills " << kills << " (" << kills_inside << " inside of a call), lives " << lives
        << '\n'
        << "records " << sums.records << ", acknowledged " << sums.acknowledged << ", of those reported lost "
        << sums.reported_lost << ", letters " << sums.letters << '\n'
        << "lost " << count(Fault::lost) << ", duplicated " << count(Fault::duplicated) << ", phantom "
        << count(Fault::phantom) << ", torn " << count(Fault::torn) << ", reordered " << count(Fault::reordered)
        << ", unreported gaps " << count(Fault::unreported_gap) << " (reported " << sums.gaps
        << ", closed tickets passed " << sums.skipped << ")\n"
        << "commits backwards " << count(Fault::commit_backwards) << ", beyond the end "
        << count(Fault::commit_beyond_end) << ", wrong hand-overs " << count(Fault::handed_over_wrong) << " of "
        << sums.tenures << ", repeated without a reason " << count(Fault::repeated) << " (with one " << sums.redelivered
        << ")\n"
        << "acked twice " << count(Fault::two_acks) << ", late acks accepted " << count(Fault::late_ack) << " (refused "
        << sums.late_acks_refused << "), wrong last sequences " << count(Fault::misnamed) << ", failed "
        << count(Fault::failed) << '\n'
        << "longest gap in progress of anybody who was neither stopped nor killed " << longest_gap_ns / 1'000'000
        << " ms (" << to_string(longest_of) << ")" << std::endl;
}

}  // namespace ringmain::nemesis
