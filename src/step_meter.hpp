// How long steps took: the last one, the longest of all, and the longest of the last minute.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace ringmain {

/// Not thread-safe.
class StepMeter {
public:
    static constexpr std::int64_t kMinuteNs = 60'000'000'000;

    /// A step that ended at `end_ns` (monotonic, not going back).
    void add(std::int64_t end_ns, std::int64_t took_ns) noexcept {
        last_ns_ = took_ns;
        longest_ns_ = std::max(longest_ns_, took_ns);
        Slice& slice = slices_[static_cast<std::size_t>(end_ns / kSliceNs) % kSlices];
        if (slice.number != end_ns / kSliceNs) slice = {end_ns / kSliceNs, 0};
        slice.longest_ns = std::max(slice.longest_ns, took_ns);
    }

    [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }
    [[nodiscard]] std::int64_t longest_ns() const noexcept { return longest_ns_; }
    /// Of steps that ended within the minute before `now_ns`, and at most a slice before that.
    [[nodiscard]] std::int64_t longest_of_minute_ns(std::int64_t now_ns) const noexcept {
        std::int64_t longest_ns = 0;
        for (const Slice& slice : slices_) {
            if (slice.number >= (now_ns - kMinuteNs) / kSliceNs) longest_ns = std::max(longest_ns, slice.longest_ns);
        }
        return longest_ns;
    }

private:
    static constexpr std::int64_t kSliceNs = kMinuteNs / 12;
    static constexpr std::size_t kSlices = 13;  // a minute lies in so many
    struct Slice {
        std::int64_t number = 0;
        std::int64_t longest_ns = 0;
    };

    std::int64_t last_ns_ = 0;
    std::int64_t longest_ns_ = 0;
    std::array<Slice, kSlices> slices_{};
};

}  // namespace ringmain
