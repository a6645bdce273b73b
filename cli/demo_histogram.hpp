// A histogram of times with a fixed size, so that it can live in memory shared by processes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ringmain::cli::demo {

/// Counts times from 0 to 2^40 ns (18 minutes; longer ones count as that) in buckets at most 1/32 wide, so a percentile
/// is at most 3.2 % above the true one. One writer; whoever reads it does so after the writer ended.
class Histogram {
public:
    void add(std::int64_t time_ns) noexcept {
        const auto value = time_ns < 0 ? 0 : static_cast<std::uint64_t>(time_ns);
        ++counts_[index_of(value)];
        ++total_;
        if (value > max_)
            max_ = value;
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return total_; }
    [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_; }

    /// The time that `per_100k` of 100,000 values do not exceed; 0 if there are no values.
    [[nodiscard]] std::uint64_t percentile_ns(std::uint64_t per_100k) const noexcept {
        const std::uint64_t wanted = (total_ * per_100k + 99'999) / 100'000;
        std::uint64_t seen = 0;
        for (std::size_t index = 0; index < counts_.size(); ++index) {
            seen += counts_[index];
            if (seen >= wanted && seen > 0)
                return upper_bound(index) < max_ ? upper_bound(index) : max_;
        }
        return max_;
    }

private:
    static constexpr unsigned kSubBits = 5;  // 32 buckets an octave
    static constexpr std::uint64_t kValueMax = (std::uint64_t{1} << 40) - 1;
    static constexpr std::size_t kBuckets = (40 - kSubBits + 1) << kSubBits;

    static constexpr std::size_t index_of(std::uint64_t value) noexcept {
        if (value > kValueMax)
            value = kValueMax;
        const auto bits = static_cast<unsigned>(std::bit_width(value));
        if (bits <= kSubBits)
            return static_cast<std::size_t>(value);
        const unsigned shift = bits - kSubBits - 1;
        return (std::size_t{shift} << kSubBits) + static_cast<std::size_t>(value >> shift);
    }
    static constexpr std::uint64_t upper_bound(std::size_t index) noexcept {
        if (index < (std::size_t{2} << kSubBits))
            return index;
        const std::size_t shift = (index >> kSubBits) - 1;
        const std::uint64_t leading = index - (shift << kSubBits);
        return ((leading + 1) << shift) - 1;
    }

    std::array<std::uint64_t, kBuckets> counts_{};
    std::uint64_t total_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace ringmain::cli::demo
