// What one poll collects: copies of records in memory that is kept between polls, and gaps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ringmain/record.hpp"

namespace ringmain {

class PollBatch {
public:
    explicit PollBatch(std::size_t buffer_bytes) noexcept : capacity_(aligned(buffer_bytes)) {}

    void begin(std::size_t records_max) {
        used_ = 0;
        count_ = 0;
        records_max_ = records_max;
        gaps_.clear();
        const std::size_t ready = std::min(records_max, kReadyMax);
        if (ready_ < ready) [[unlikely]] make_ready(ready);
        if (!buffer_) [[unlikely]] buffer_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    }

    [[nodiscard]] bool full() const noexcept { return count_ >= records_max_; }
    [[nodiscard]] std::size_t wanted() const noexcept { return records_max_ - count_; }

    /// Memory for a body, or null if the batch should be delivered first. Grows only for a first record.
    [[nodiscard]] std::byte* reserve(std::size_t bytes) {
        if (bytes > capacity_ - used_) [[unlikely]] {
            if (count_ != 0) return nullptr;
            buffer_ = std::make_unique_for_overwrite<std::byte[]>(aligned(bytes));
            capacity_ = aligned(bytes);
        }
        return buffer_.get() + used_;
    }

    /// Adds a record whose body is at the last reserve() and takes `bytes`. The caller fills every field: what it gets is
    /// what an earlier batch left there.
    ConsumerRecord& add(std::size_t bytes) {
        used_ += aligned(bytes);
        if (count_ == ready_) [[unlikely]] make_ready(count_ + kReadyMax);
        return records_[count_++];
    }
    /// The same for one who describes the record elsewhere.
    void keep(std::size_t bytes) noexcept {
        used_ += aligned(bytes);
        ++count_;
    }
    void add_gap(const Gap& gap) { gaps_.push_back(gap); }
    /// Takes back everything of one partition.
    void remove(std::string_view topic, std::uint32_t partition) {
        const auto is_of = [&](const auto& one) { return one.partition == partition && one.topic == topic; };
        const auto end = records_.begin() + static_cast<std::ptrdiff_t>(count_);
        count_ = static_cast<std::size_t>(std::remove_if(records_.begin(), end, is_of) - records_.begin());
        std::erase_if(gaps_, is_of);
    }

    [[nodiscard]] std::span<const ConsumerRecord> records() const noexcept { return {records_.data(), count_}; }
    [[nodiscard]] std::span<const Gap> gaps() const noexcept { return gaps_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0 && gaps_.empty(); }

private:
    static constexpr std::size_t kReadyMax = 65'536;
    void make_ready(std::size_t records) {
        records_.resize(records);
        ready_ = records;
    }
    /// Values keep the alignment they have in a cell.
    static constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

    std::unique_ptr<std::byte[]> buffer_;
    std::size_t capacity_;  // aligned, as every reservation is: what fits still fits when it is rounded up
    std::size_t used_ = 0;
    std::size_t records_max_ = 0;
    std::vector<ConsumerRecord> records_;  // the first count_ are this batch
    std::size_t ready_ = 0;  // their number: asking the vector takes a division
    std::size_t count_ = 0;
    std::vector<Gap> gaps_;
};

}  // namespace ringmain
