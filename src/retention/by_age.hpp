// Which records are older than a limit, by the order in which they were appended.
//
// A keeper cannot know when a record was appended, only when it saw that it had been. So it marks now and then how far the
// log has come: {log end, time}. The log end is the one of the step *before* the time was taken: whatever happens to the
// keeper in between, all records below it are at least as old as the mark says. A mark is due when the log has grown and the
// last mark is a 120th part of the limit old: so late is a record at most, and two steps.
//
// What a record's timestamp says and what the wall clock does has no part in this. A keeper that finds no mark that can be (the
// first one; after a boot, with files on a disk; after damage) counts what it finds as appended when it saw it first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "retention/mark_ring.hpp"

namespace ringmain::retention {

/// A time that never comes.
inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// The time of a step: CLOCK_BOOTTIME, and which boot it is of. Read before the step looks at the log.
struct Moment {
    std::uint64_t now_ns = 0;
    std::uint64_t boot = 0;
};

/// What is retained, as it was at the beginning of a step.
struct Span {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

inline constexpr std::uint64_t kMarksPerLimit = 120;
inline constexpr std::uint64_t kMarkIntervalMinNs = 100'000'000;

/// How long after the last mark the next one is due.
[[nodiscard]] constexpr std::uint64_t mark_interval_ns(std::uint64_t age_ns) noexcept {
    return std::max(age_ns / kMarksPerLimit, kMarkIntervalMinNs);
}

/// The keeper's view of one partition. Private memory; one thread at a time.
template <class M>
class ByAge {
public:
    explicit ByAge(layout::MarkRing<M>& ring) noexcept : ring_(&ring) {}

    /// Everything before the answer is older than `age_ns`: between span.start and span.end.
    std::uint64_t step(std::uint64_t age_ns, const Span& span, const Moment& now) {
        if (!adopted_) adopt(span, now);
        follow_clock(now.now_ns);
        noted_end_ = std::max(noted_end_, span.start);
        if (looked_ && seen_end_ > noted_end_ && now_ns_ >= next_note_ns(age_ns)) note(age_ns, now.boot);
        seen_end_ = span.end;
        looked_ = true;
        return expire(age_ns, span);
    }

    /// When the next step has something to do, if nothing is appended until then and the log begins at `start`. After a step.
    [[nodiscard]] std::uint64_t due_ns(std::uint64_t age_ns, std::uint64_t start) const noexcept {
        const std::uint64_t note = seen_end_ > std::max(noted_end_, start) ? next_note_ns(age_ns) : kNever;
        const auto first = std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) { return mark.offset > start; });
        return first == marks_.end() ? note : std::min(note, first->measure + age_ns);
    }

    /// There is no limit any more. The marks in the partition stay true.
    void forget() noexcept {
        marks_.clear();
        adopted_ = false;
        looked_ = false;
    }

private:
    void adopt(const Span& span, const Moment& now) {
        marks_ = read_marks(*ring_, span.start, {span.end, now.now_ns}, now.boot);
        noted_end_ = marks_.empty() ? span.start : marks_.back().offset;
        noted_ = !marks_.empty();
        noted_ns_ = noted_ ? marks_.back().measure : 0;
        now_ns_ = now.now_ns;
        adopted_ = true;
    }

    /// No clock of a sound kernel goes back. One that did: no time has passed, and all marks are of its new count.
    void follow_clock(std::uint64_t now_ns) noexcept {
        if (now_ns < now_ns_) {
            const std::uint64_t back = now_ns_ - now_ns;
            for (Mark& mark : marks_) mark.measure -= std::min(mark.measure, back);
            noted_ns_ -= std::min(noted_ns_, back);
        }
        now_ns_ = now_ns;
    }

    [[nodiscard]] std::uint64_t next_note_ns(std::uint64_t age_ns) const noexcept {
        return noted_ ? noted_ns_ + mark_interval_ns(age_ns) : 0;
    }

    void note(std::uint64_t age_ns, std::uint64_t boot) {
        add_mark(*ring_, marks_, {seen_end_, now_ns_}, boot, mark_interval_ns(age_ns));
        noted_ = true;
        noted_end_ = seen_end_;
        noted_ns_ = now_ns_;
    }

    /// Of the marks that are old enough the last one stays until the log start has passed it: gates may hold its records.
    std::uint64_t expire(std::uint64_t age_ns, const Span& span) noexcept {
        const auto gone = [&](const Mark& mark) { return mark.offset <= span.start; };
        marks_.erase(marks_.begin(), std::find_if_not(marks_.begin(), marks_.end(), gone));
        const auto old_enough = [&](const Mark& mark) { return now_ns_ - mark.measure >= age_ns; };
        const auto young = std::find_if_not(marks_.begin(), marks_.end(), old_enough);
        if (young == marks_.begin()) return span.start;
        marks_.erase(marks_.begin(), std::prev(young));
        return marks_.front().offset;
    }

    layout::MarkRing<M>* ring_;
    std::vector<Mark> marks_;  // oldest first
    bool adopted_ = false;
    std::uint64_t now_ns_ = 0;
    // the log end of the last step, and what was marked last
    bool looked_ = false;
    std::uint64_t seen_end_ = 0;
    bool noted_ = false;
    std::uint64_t noted_end_ = 0;
    std::uint64_t noted_ns_ = 0;
};

}  // namespace ringmain::retention
