// A partition's records as the work table asks for them: what their headers want, and copies for the worker.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "partition_log/reader.hpp"
#include "platform/memory.hpp"
#include "poll_batch.hpp"
#include "ringmain/queue.hpp"
#include "work_table/taking.hpp"

namespace ringmain {

/// What one acquire collects, from all partitions.
class WorkBatch {
public:
    explicit WorkBatch(std::size_t buffer_bytes) : bodies(buffer_bytes) {}

    void begin(std::size_t records_max) {
        bodies.begin(0);
        if (records_.size() < records_max) records_.resize(records_max);
        count_ = 0;
        gaps.clear();
    }
    /// The next record, as an earlier batch left it: every field is to be filled.
    [[nodiscard]] QueueRecord& add() noexcept { return records_[count_++]; }
    /// Only the first so many are: requires that there are as many.
    void keep(std::size_t records) noexcept { count_ = records; }
    [[nodiscard]] std::span<const QueueRecord> records() const noexcept { return {records_.data(), count_}; }

    PollBatch bodies;
    std::vector<Gap> gaps;

private:
    std::vector<QueueRecord> records_;  // the first count_ are this batch
    std::size_t count_ = 0;
};

/// The `Records` of work_table/taking.hpp, for one partition. Not thread-safe.
class WorkRecords {
public:
    using Memory = platform::HostMemory;

    /// Both must outlive it.
    WorkRecords(const partition_log::LogMemory<Memory>& log, std::string_view topic, std::uint32_t partition, WorkBatch& batch) noexcept
        : reader_(log), topic_(topic), partition_(partition), batch_(batch) {}

    /// For the acquire that begins: of which generation locks are, and both clocks.
    void begin(std::uint32_t generation, std::uint64_t now_ms, std::int64_t realtime_ns) noexcept {
        generation_ = generation;
        now_ms_ = now_ms;
        realtime_ns_ = realtime_ns;
    }

    [[nodiscard]] work_table::Peeked peek(std::uint64_t offset) noexcept;
    [[nodiscard]] work_table::Received copy(std::uint64_t offset) noexcept;
    [[nodiscard]] bool copy_plain(std::uint64_t offset) noexcept;
    /// A copy that is not added takes no memory.
    void drop() noexcept {}

    void took(std::uint64_t offset, std::uint64_t word) noexcept;
    void lost(std::uint64_t from, std::uint64_t to) noexcept;
    void corrupt(std::uint64_t offset) noexcept;
    [[nodiscard]] WorkBatch& batch() noexcept { return batch_; }

private:
    /// The copied headers, if they can be.
    [[nodiscard]] std::optional<Headers> copy_headers(const partition_log::RecordView& view) noexcept;

    partition_log::Reader<Memory> reader_;
    std::string_view topic_;
    std::uint32_t partition_;
    WorkBatch& batch_;
    std::uint32_t generation_ = 0;
    std::uint64_t now_ms_ = 0;
    std::int64_t realtime_ns_ = 0;
    std::vector<std::byte> headers_;
    partition_log::RecordView copied_;  // the body lies behind what the batch has
    std::uint32_t copied_headers_ = 0;
};

}  // namespace ringmain
