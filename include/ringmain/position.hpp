// Where to read: by name, by offset, by count from the end, by time.
#pragma once

#include <cstdint>

namespace ringmain {

/// Where to read next.
struct Position {
    enum class Kind : std::uint8_t { earliest, latest, offset, last, time, committed };
    Kind kind = Kind::earliest;
    std::uint64_t value = 0;     ///< The offset, or how many from the end.
    std::int64_t time_ns = 0;    ///< Nanoseconds since the Unix epoch.

    static constexpr Position earliest() noexcept { return {}; }
    static constexpr Position latest() noexcept { return {Kind::latest, 0, 0}; }
    /// Below the log start a gap is reported; above the log end the reader waits until the log gets there.
    static constexpr Position at(std::uint64_t offset) noexcept { return {Kind::offset, offset, 0}; }
    /// The last `count` offsets, or all if there are fewer.
    static constexpr Position last(std::uint64_t count) noexcept { return {Kind::last, count, 0}; }
    /// The first record whose timestamp is not before `ns`, by binary search; the end if there is none.
    static constexpr Position since(std::int64_t ns) noexcept { return {Kind::time, 0, ns}; }
    /// Where the consumer's group is. Only for Consumer::assign and seek of a consumer with a group.
    static constexpr Position committed() noexcept { return {Kind::committed, 0, 0}; }
};

}  // namespace ringmain
