// The marks of a partition in shared memory: written by one keeper after the other, believed by none without a look.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout/marks.hpp"

namespace ringmain::retention {

/// A mark in private memory: everything below `offset` had been appended when `measure` was taken.
struct Mark {
    std::uint64_t offset = 0;
    std::uint64_t measure = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
};

/// One mark is always being filled, so that one fewer count.
inline constexpr std::size_t kMarksKept = layout::kMarks - 1;

/// Appends a mark. Only the keeper may; if it dies in here, the mark is not there.
template <class M>
void write_mark(layout::MarkRing<M>& ring, const Mark& mark, std::uint64_t boot) noexcept {
    const std::uint64_t written = ring.written.load(std::memory_order_relaxed);  // relaxed: the keeper's own
    layout::Mark<M>& slot = ring.marks[written % layout::kMarks];
    // relaxed: published by the number behind them
    slot.offset.store(mark.offset, std::memory_order_relaxed);
    slot.measure.store(mark.measure, std::memory_order_relaxed);
    slot.boot.store(boot, std::memory_order_relaxed);
    M::point("mark.filled");
    ring.written.store(written + 1, std::memory_order_release);  // release MARK
    M::point("mark.written");
}

/// The marks that an earlier keeper left, oldest first, from the newest back to the first that cannot be: they follow each other
/// in offset and measure, do not pass `newest`, and are of this `boot`. One at or below `start` is the last that is of use.
template <class M>
[[nodiscard]] std::vector<Mark> read_marks(const layout::MarkRing<M>& ring, std::uint64_t start, Mark newest, std::uint64_t boot) {
    const std::uint64_t written = ring.written.load(std::memory_order_acquire);  // acquire MARK
    const std::uint64_t count = std::min<std::uint64_t>(written, kMarksKept);
    std::vector<Mark> marks;
    for (std::uint64_t back = 1; back <= count; ++back) {
        const layout::Mark<M>& slot = ring.marks[(written - back) % layout::kMarks];
        // relaxed: they came with the number; what somebody scribbles meanwhile is judged like everything else
        const Mark mark{slot.offset.load(std::memory_order_relaxed), slot.measure.load(std::memory_order_relaxed)};
        const bool follows = mark.offset <= newest.offset && mark.measure <= newest.measure;
        if (!follows || slot.boot.load(std::memory_order_relaxed) != boot) break;
        marks.push_back(mark);
        newest = mark;
        if (mark.offset <= start) break;
    }
    std::reverse(marks.begin(), marks.end());
    return marks;
}

}  // namespace ringmain::retention
