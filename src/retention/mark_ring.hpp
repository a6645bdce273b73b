// The marks of a partition in shared memory: written by one keeper after the other, believed by none without a look.
//
// Two keepers may write at once: the lock file was replaced under one that was stopped. Then one ring has marks of both, and one
// mark may have words of both. So each says what it counts from, bound to what it says, and only marks of one origin are
// read together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "layout/marks.hpp"

namespace ringmain::retention {

/// A mark in private memory: everything below `offset` had been appended when `measure` was taken.
struct Mark {
    std::uint64_t offset = 0;
    std::uint64_t measure = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
};

/// The third word of a mark: what its measure counts from, bound to the other two; and from that word, the origin again.
[[nodiscard]] constexpr std::uint64_t seal_of(const Mark& mark, std::uint64_t origin) noexcept {
    const auto mixed = [](std::uint64_t word) {  // the finalizer of splitmix64: every bit depends on every bit
        word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9ULL;
        word = (word ^ word >> 27) * 0x94d0'49bb'1331'11ebULL;
        return word ^ word >> 31;
    };
    constexpr std::uint64_t kApart = 0x9e37'79b9'7f4a'7c15ULL;  // so that no word is mixed as 0
    return origin ^ mixed(mark.offset + kApart + mixed(mark.measure + kApart));
}

/// One mark is always being filled, so that one fewer count.
inline constexpr std::size_t kMarksKept = layout::kMarks - 1;

/// Appends a mark. Only the keeper may; if it dies in here, the mark is not there.
template <class M>
void write_mark(layout::MarkRing<M>& ring, const Mark& mark, std::uint64_t origin) noexcept {
    const std::uint64_t written = ring.written.load(std::memory_order_relaxed);  // relaxed: the keeper's own
    layout::Mark<M>& slot = ring.marks[written % layout::kMarks];
    // relaxed: published by the number behind them
    slot.offset.store(mark.offset, std::memory_order_relaxed);
    slot.measure.store(mark.measure, std::memory_order_relaxed);
    slot.origin.store(seal_of(mark, origin), std::memory_order_relaxed);
    M::point("mark.filled");
    ring.written.store(written + 1, std::memory_order_release);  // release MARK
    M::point("mark.written");
}

/// The marks that an earlier keeper left, oldest first, from the newest back to the first that cannot be: they follow each other
/// in offset and measure, do not pass `newest`, and are of this `origin`; without one, of that of the newest: words of two keepers
/// there are taken for a mark, that none before it fits. One at or below `start` is the last of use.
template <class M>
[[nodiscard]] std::vector<Mark> read_marks(const layout::MarkRing<M>& ring, std::uint64_t start, Mark newest,
                                           std::optional<std::uint64_t> origin) {
    const std::uint64_t written = ring.written.load(std::memory_order_acquire);  // acquire MARK
    const std::uint64_t count = std::min<std::uint64_t>(written, kMarksKept);
    std::vector<Mark> marks;
    for (std::uint64_t back = 1; back <= count; ++back) {
        const layout::Mark<M>& slot = ring.marks[(written - back) % layout::kMarks];
        // relaxed: they came with the number; what somebody scribbles meanwhile is judged like everything else
        const Mark mark{slot.offset.load(std::memory_order_relaxed), slot.measure.load(std::memory_order_relaxed)};
        const std::uint64_t counts_from = seal_of(mark, slot.origin.load(std::memory_order_relaxed));
        const bool follows = mark.offset <= newest.offset && mark.measure <= newest.measure;
        if (!follows || counts_from != origin.value_or(counts_from)) break;
        origin = counts_from;
        marks.push_back(mark);
        newest = mark;
        if (mark.offset <= start) break;
    }
    std::reverse(marks.begin(), marks.end());
    return marks;
}

/// The marks that are needed so that no two neighbours are twice `spacing` apart that were not before: the first, the newest,
/// and of the others those that are not closer to the one before.
[[nodiscard]] inline std::vector<Mark> thinned(const std::vector<Mark>& marks, std::uint64_t spacing) {
    std::vector<Mark> kept;
    for (const Mark& mark : marks) {
        if (kept.empty() || mark == marks.back() || mark.measure - kept.back().measure >= spacing) kept.push_back(mark);
    }
    return kept;
}

/// Appends a mark to a keeper's own and to the ring. There is room for all that are `spacing` apart. If those of a limit that was
/// smaller take it, they are thinned, and written again, so that the next keeper finds all in the ring. Dying in that leaves
/// marks from which it counts anew.
template <class M>
void add_mark(layout::MarkRing<M>& ring, std::vector<Mark>& marks, const Mark& mark, std::uint64_t origin, std::uint64_t spacing) {
    if (marks.size() >= kMarksKept) {
        marks = thinned(marks, spacing);
        for (const Mark& kept : marks) write_mark(ring, kept, origin);
    }
    marks.push_back(mark);
    write_mark(ring, mark, origin);
}

}  // namespace ringmain::retention
