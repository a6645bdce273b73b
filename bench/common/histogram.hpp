// A log-linear histogram of fixed size: every value is kept with an error below 1/128, none is dropped.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ringmain::bench {

/// Values below 256 are exact; above, each power of two has 128 buckets. Trivially copyable, so that a child can fill
/// one in shared memory. Values from 2^44 on share the last bucket; `max()` stays exact.
class Histogram {
public:
    void record(std::uint64_t value) noexcept {
        ++counts_[std::min(index_of(value), kBuckets - 1)];
        ++count_;
        max_ = std::max(max_, value);
    }

    void merge(const Histogram& other) noexcept {
        for (std::size_t i = 0; i < kBuckets; ++i)
            counts_[i] += other.counts_[i];
        count_ += other.count_;
        max_ = std::max(max_, other.max_);
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

    /// The value that `fraction` (0 to 1) of all values do not exceed: the middle of its bucket. 0 when empty.
    [[nodiscard]] double quantile(double fraction) const noexcept {
        const auto wanted = static_cast<std::uint64_t>(fraction * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < kBuckets; ++i) {
            seen += counts_[i];
            if (counts_[i] > 0 && seen >= std::max<std::uint64_t>(wanted, 1)) {
                return std::min(middle_of(i), static_cast<double>(max_));
            }
        }
        return static_cast<double>(max_);
    }

    /// Calls `visit(lowest value of the bucket, count)` for each bucket that is not empty.
    template <class Visit>
    void for_each_bucket(Visit&& visit) const {
        for (std::size_t i = 0; i < kBuckets; ++i) {
            if (counts_[i] > 0)
                visit(lowest_of(i), counts_[i]);
        }
    }

    static constexpr std::size_t index_of(std::uint64_t value) noexcept {
        if (value < 2 * kSteps)
            return static_cast<std::size_t>(value);
        const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 1 - kStepBits;
        return shift * kSteps + static_cast<std::size_t>(value >> shift);
    }
    static constexpr std::uint64_t lowest_of(std::size_t index) noexcept {
        if (index < 2 * kSteps)
            return index;
        const std::size_t shift = index / kSteps - 1;
        return static_cast<std::uint64_t>(index - shift * kSteps) << shift;
    }

private:
    static constexpr std::size_t kStepBits = 7;
    static constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
    static constexpr std::size_t kBuckets = (44 - kStepBits + 1) * kSteps;

    static constexpr double middle_of(std::size_t index) noexcept {
        const auto width = static_cast<double>(lowest_of(index + 1) - lowest_of(index));
        return static_cast<double>(lowest_of(index)) + (width - 1) / 2;
    }

    std::array<std::uint64_t, kBuckets> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

static_assert(Histogram::lowest_of(Histogram::index_of(255)) == 255);
static_assert(Histogram::lowest_of(Histogram::index_of(256)) == 256);
static_assert(Histogram::lowest_of(Histogram::index_of(1'000'000)) <= 1'000'000);
static_assert(1'000'000 - Histogram::lowest_of(Histogram::index_of(1'000'000)) < 1'000'000 / 128);

}  // namespace ringmain::bench
