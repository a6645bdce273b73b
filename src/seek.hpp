// Finding offsets: by count from the end, by time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "partition_log/reader.hpp"
#include "ringmain/consumer.hpp"

namespace ringmain {

/// The first offset in [log start, log end) whose record is not before `time_ns`, or the log end. Binary search: records
/// whose producers set timestamps out of order are found as a binary search finds them. Looks at no more than
/// `span_max` offsets (a lap and the slack), whatever the control words say.
template <class M>
[[nodiscard]] std::uint64_t first_offset_since(const partition_log::Reader<M>& reader, std::int64_t time_ns,
                                               std::uint64_t span_max) noexcept {
    std::uint64_t low = reader.log_start();
    std::uint64_t high = std::max(low, reader.log_end());
    low = std::max(low, high - std::min(high, span_max));
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        const auto timestamp = reader.first_timestamp(middle, high);
        if (!timestamp || *timestamp >= time_ns) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return std::max(low, reader.log_start());
}

template <class M>
[[nodiscard]] SeekResult resolve(const partition_log::Reader<M>& reader, const Position& position,
                                 std::uint64_t span_max) noexcept {
    const std::uint64_t start = reader.log_start();
    const std::uint64_t end = std::max(start, reader.log_end());
    std::uint64_t offset = start;
    switch (position.kind) {
        case Position::Kind::earliest: offset = start; break;
        case Position::Kind::latest: offset = end; break;
        case Position::Kind::offset: offset = position.value; break;
        case Position::Kind::last: offset = end - std::min(end - start, position.value); break;
        case Position::Kind::time: offset = first_offset_since(reader, position.time_ns, span_max); break;
        case Position::Kind::committed: break;  // the consumer puts the offset in its place
    }
    return {offset, offset == end, offset > end};
}

}  // namespace ringmain
