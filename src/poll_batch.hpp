// What one poll collects: copies of records in memory that is kept between polls, and gaps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringmain/record.hpp"

namespace ringmain {

class PollBatch {
public:
    explicit PollBatch(std::size_t buffer_bytes) noexcept : capacity_(buffer_bytes) {}

    void begin(std::size_t records_max) {
        used_ = 0;
        records_max_ = records_max;
        records_.clear();
        gaps_.clear();
        if (records_.capacity() < records_max && records_max <= kReserveMax) records_.reserve(records_max);
        if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    }

    [[nodiscard]] bool full() const noexcept { return records_.size() >= records_max_; }
    [[nodiscard]] std::size_t wanted() const noexcept { return records_max_ - records_.size(); }

    /// Memory for a body, or null if the batch should be delivered first. Grows only for a first record.
    [[nodiscard]] std::byte* reserve(std::size_t bytes) {
        if (bytes > capacity_ - used_) {
            if (!records_.empty()) return nullptr;
            used_ = 0;
            if (bytes > capacity_) {
                buffer_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
                capacity_ = bytes;
            }
        }
        return buffer_.get() + used_;
    }

    /// Adds a record whose body is at the last reserve() and takes `bytes`.
    ConsumerRecord& add(std::size_t bytes) {
        constexpr std::size_t kAlignment = 8;  // values keep the alignment they have in a cell
        used_ = std::min(capacity_, (used_ + bytes + kAlignment - 1) & ~(kAlignment - 1));
        return records_.emplace_back();
    }
    void add_gap(const Gap& gap) { gaps_.push_back(gap); }

    [[nodiscard]] std::span<const ConsumerRecord> records() const noexcept { return records_; }
    [[nodiscard]] std::span<const Gap> gaps() const noexcept { return gaps_; }
    [[nodiscard]] bool empty() const noexcept { return records_.empty() && gaps_.empty(); }

private:
    static constexpr std::size_t kReserveMax = 65'536;

    std::unique_ptr<std::byte[]> buffer_;
    std::size_t capacity_;
    std::size_t used_ = 0;
    std::size_t records_max_ = 0;
    std::vector<ConsumerRecord> records_;
    std::vector<Gap> gaps_;
};

}  // namespace ringmain
