// Where the last so many bytes of a log begin.
//
// Bytes are counted once, as they come (byte_count.hpp), and marks {offset, bytes before it} are set at every 120th part of the
// limit. Records go from one mark to the next: between 99 % and 100 % of the limit stay, but for what was appended since the
// last step. A new keeper counts on from the newest mark; one that finds none that can be counts what is retained first,
// and deletes nothing by bytes until it has.
//
// What lies between two marks is known only if one count set both. So each count has a name that no other has, and a keeper that
// goes on with the marks of another one writes them again as its own: the other one may still be writing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "retention/by_age.hpp"
#include "retention/byte_count.hpp"
#include "retention/mark_ring.hpp"

namespace ringmain::retention {

/// The keeper's view of one partition. Private memory; one thread at a time.
template <class M>
class ByBytes {
public:
    explicit ByBytes(const partition_log::LogMemory<M>& log) noexcept : ring_(&log.marks->sizes), count_(log) {}

    /// After the answer at most `limit` bytes are left: between span.start and span.end. Looks at `cells` cells at most.
    std::uint64_t step(std::uint64_t limit, const Span& span, const Moment& now, std::uint64_t cells = kCellsPerStep) {
        const bool closer = limit_ == 0 || limit < limit_;
        limit_ = limit;
        if (closer) {
            adopt(span, now);
        } else if (count_.walked() < span.start) {
            count_.skip_to(span.start);
            begin_marks(span.start, now);
        }
        count_.walk(span.end, cells, [this](std::uint64_t offset, std::uint64_t total) {
            if (total - marks_.back().measure >= spacing(limit_)) note({offset, total});
        });
        return count_.behind() ? span.start : expire(span);
    }

    /// Come back at once: cells are being counted over several steps.
    [[nodiscard]] bool unfinished() const noexcept { return limit_ != 0 && count_.behind(); }

    /// There is no limit any more. The marks in the partition stay true.
    void forget() noexcept {
        marks_.clear();
        limit_ = 0;
    }

private:
    /// At most kMarksPerLimit marks fit in a limit.
    [[nodiscard]] static std::uint64_t spacing(std::uint64_t limit) noexcept { return (limit + kMarksPerLimit - 1) / kMarksPerLimit; }

    /// Goes on from the marks in the partition if they serve this limit.
    void adopt(const Span& span, const Moment& now) {
        marks_ = read_marks(*ring_, span.start, {span.end, std::numeric_limits<std::uint64_t>::max()}, std::nullopt);
        if (!serve(span)) {
            count_.begin(span.start, 0, span.end);
            return begin_marks(span.start, now);
        }
        count_.begin(marks_.back().offset, marks_.back().measure, span.end);
        name_ = name_of_count(now);
        for (const Mark& mark : marks_) write_mark(*ring_, mark, name_);
    }

    /// They begin where the log does, or before, and are close enough. Where a record is larger than that, what is retained is
    /// counted anew: a mark does not tell whether one record lies before it or many.
    [[nodiscard]] bool serve(const Span& span) const noexcept {
        const auto too_far = [&](const Mark& one, const Mark& next) { return next.measure - one.measure > 2 * spacing(limit_); };
        return !marks_.empty() && marks_.front().offset <= span.start && marks_.back().offset >= span.start &&
               std::adjacent_find(marks_.begin(), marks_.end(), too_far) == marks_.end();
    }

    /// No two keepers begin to count one partition in the same nanosecond.
    [[nodiscard]] static std::uint64_t name_of_count(const Moment& now) noexcept { return now.boot ^ now.now_ns; }

    void begin_marks(std::uint64_t offset, const Moment& now) {
        marks_.clear();
        name_ = name_of_count(now);
        note({offset, 0});
    }

    void note(const Mark& mark) {
        if (marks_.size() >= kMarksKept) drop_passed();
        add_mark(*ring_, marks_, mark, name_, spacing(limit_));
    }

    /// How many marks have more than the limit behind them.
    [[nodiscard]] std::size_t passed() const noexcept {
        const auto over = [this](const Mark& mark) { return count_.total() - mark.measure > limit_; };
        return static_cast<std::size_t>(std::find_if_not(marks_.begin(), marks_.end(), over) - marks_.begin());
    }

    /// The last one that is passed stays: it tells that what is retained from there on is too much.
    std::size_t drop_passed() noexcept {
        const std::size_t over = passed();
        if (over < 2) return over;
        marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(over - 1));
        return 1;
    }

    std::uint64_t expire(const Span& span) noexcept {
        const std::size_t over = drop_passed();
        return over != 0 && over < marks_.size() ? std::max(span.start, marks_[over].offset) : span.start;
    }

    layout::MarkRing<M>* ring_;
    ByteCount<M> count_;
    std::uint64_t limit_ = 0;  // of the last step; 0: none yet
    std::uint64_t name_ = 0;   // of this count
    std::vector<Mark> marks_;  // oldest first
};

}  // namespace ringmain::retention
