// Every shared byte of a partition's *marks*: what keepers note about the past of a log, so that the next keeper goes on.
//
// A mark says how much there was of something when the log had reached an offset: how late it was (ages), or how many bytes
// had been appended (sizes). Retention finds in them where to delete. They lie in the partition's file, between the named
// entries and the producers.
//
//   +0     ages   MarkRing: {log end, CLOCK_BOOTTIME in ns, boot bound to both}
//   +3200  sizes  MarkRing: {offset, bytes of keys, values and headers before it, count bound to both}
//
// Written by the holder of keeper.lock alone; read by the next one, and by verify. A mark is filled first, then `written`
// grows (MARK): a keeper that is killed in between leaves a ring without that mark. The slot that is filled next holds no
// mark, so kMarks - 1 of them count.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/memory.hpp"

namespace ringmain::layout {

inline constexpr std::uint32_t kMarks = 128;  // a power of two: `written` may wrap around

/// Everything below `offset` had been appended when `measure` was taken.
template <class M>
struct Mark {
    typename M::template Atomic<std::uint64_t> offset;
    typename M::template Atomic<std::uint64_t> measure;
    typename M::template Atomic<std::uint64_t> origin;  // the boot, or the count; bound to the others (retention/mark_ring.hpp)
};

/// Mark number n is in slot n mod kMarks.
template <class M>
struct MarkRing {
    alignas(128) typename M::template Atomic<std::uint64_t> written;  // marks that were ever written
    std::byte reserved[128 - 8];
    Mark<M> marks[kMarks];
};

template <class M>
struct PartitionMarks {
    MarkRing<M> ages;
    MarkRing<M> sizes;
};

namespace proof {
using OneMark = Mark<platform::HostMemory>;
static_assert(sizeof(OneMark) == 24);
static_assert(offsetof(OneMark, offset) == 0);
static_assert(offsetof(OneMark, measure) == 8);
static_assert(offsetof(OneMark, origin) == 16);
using Ring = MarkRing<platform::HostMemory>;
static_assert(sizeof(Ring) == 3200 && alignof(Ring) == 128);
static_assert(offsetof(Ring, written) == 0);
static_assert(offsetof(Ring, marks) == 128);
using Marks = PartitionMarks<platform::HostMemory>;
static_assert(sizeof(Marks) == 6400);
static_assert(offsetof(Marks, ages) == 0);
static_assert(offsetof(Marks, sizes) == 3200);
static_assert((kMarks & (kMarks - 1)) == 0);
}  // namespace proof

}  // namespace ringmain::layout
