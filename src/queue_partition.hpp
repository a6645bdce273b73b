// One partition of a queue in the hands of one worker.
#pragma once

#include <cstdint>
#include <optional>

#include "dead_letter_log.hpp"
#include "partition_cursor.hpp"
#include "platform/memory.hpp"
#include "ringmain/queue.hpp"
#include "work_files.hpp"
#include "work_records.hpp"
#include "work_table/acquiring.hpp"
#include "work_table/settling.hpp"

namespace ringmain {

/// The clocks of one call.
struct WorkTime {
    std::uint64_t ms = 0;          ///< Of locks and delays.
    std::int64_t realtime_ns = 0;  ///< Of records.
    std::uint64_t ticks = 0;       ///< Of patience.
};
[[nodiscard]] WorkTime work_time_now() noexcept;
[[nodiscard]] std::uint64_t work_clock_ms() noexcept;

/// Not thread-safe.
class QueuePartition {
public:
    using Memory = platform::HostMemory;
    using Settling = work_table::Settling<Memory, DeadLetterLog>;

    /// `files`, `letters` and `batch` must outlive it. Throws Error as PartitionCursor and WorkFiles::part_now.
    QueuePartition(WorkFiles& files, std::uint32_t partition, const work_table::WorkRules& rules, std::uint32_t slot,
                   DeadLetterLogs& letters, WorkBatch& batch);
    QueuePartition(const QueuePartition&) = delete;
    QueuePartition& operator=(const QueuePartition&) = delete;

    /// Takes up to `count` records into the batch; `patience_ticks`: before an open ticket in the way is closed. Answers ok, or
    /// why the partition gives nothing: topic_deleted, group_deleted, corrupt.
    Status acquire(std::size_t count, const WorkTime& now, std::uint64_t patience_ticks);

    [[nodiscard]] Settling& settling() noexcept { return bound_->settling; }
    [[nodiscard]] DeadLetterLog& letters() noexcept { return letters_; }
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
    [[nodiscard]] PartitionCursor& cursor() noexcept { return cursor_; }

    /// Damaged, told, and not acquired from until another one is made in its place.
    void set_aside() noexcept { aside_ = true; }
    [[nodiscard]] bool aside() const noexcept { return aside_; }
    /// What the words say and were told is to be believed.
    [[nodiscard]] bool words_whole() const noexcept { return files_.whole(cursor_.partition()); }

    /// At the last look an open ticket was in the way of the next record.
    [[nodiscard]] bool held_up() const noexcept { return held_up_; }
    /// Something may be available: a record that nobody was handed, or one that is due again.
    [[nodiscard]] bool ready(const WorkTime& now) const noexcept;
    /// How long nothing that was handed out before is due; nothing: nothing was, or all is finished.
    [[nodiscard]] std::optional<std::uint64_t> due_in_ms(const WorkTime& now) const noexcept;
    /// Calls `use(lock)` for every record that the words say this worker holds.
    template <class Use>
    void for_each_held(const Use& use) noexcept {
        const auto& work = bound_->work;
        const std::uint64_t start = work.start();
        const std::uint64_t frontier = work.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
        for (std::uint64_t offset = start; offset < frontier && offset < start + work.window(); ++offset) {
            const std::uint64_t word = work.word_of(offset);
            if (work_table::state_of(word) != work_table::WorkState::locked || work_table::slot_of(word) != slot_) continue;
            if (work_table::lap_bits(word) == work.lap(offset)) use(Lock{cursor_.partition(), generation_, offset, word});
        }
    }
    /// More than half of a log that overwrites lies behind the record already.
    [[nodiscard]] bool may_be_lost(std::uint64_t offset) const noexcept;

private:
    struct Bound {
        work_table::WorkMemory<Memory> work;
        work_table::Acquiring<Memory, DeadLetterLog> acquiring;
        Settling settling;
    };
    void bind(const WorkFiles::Part& part);
    /// The words of this generation are none any more: those of the next one, or why there are none.
    [[nodiscard]] Status rebind();

    WorkFiles& files_;
    work_table::WorkRules rules_;
    std::uint32_t slot_;
    PartitionCursor cursor_;
    DeadLetterLog letters_;
    WorkRecords records_;
    std::uint32_t generation_ = 0;
    bool held_up_ = false;
    bool aside_ = false;
    std::optional<Bound> bound_;
};

}  // namespace ringmain
