// What the words of a queue's partition say at one moment.
#include "queue_survey.hpp"

#include <algorithm>

#include "work_counts.hpp"

namespace ringmain {

namespace {

using Work = work_table::WorkMemory<platform::HostMemory>;
using work_table::WorkState;

/// One pass over the words of a partition.
class Survey {
public:
    Survey(const Work& work, std::uint64_t now_ms, QueuePartitionDescription& partition, HeldByWorker& held) noexcept
        : work_(work), now_ms_(now_ms), partition_(partition), held_(held) {}

    void run() noexcept {
        const std::uint64_t start = work_.start();
        const std::uint64_t frontier = work_.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
        const std::uint64_t log_start = work_.log_start();
        const std::uint64_t end = std::max(work_.log_end(), start);
        const std::uint64_t window_end = std::min(end, start + work_.window());
        const std::uint64_t handed_out = std::clamp(frontier, start, window_end);
        partition_.lag.lost = 0;
        for (std::uint64_t offset = start; offset < handed_out; ++offset) look_at(offset, log_start);
        const std::uint64_t fresh = std::max(handed_out, std::min(log_start, window_end));
        partition_.lag.lost += fresh - handed_out + (log_start > window_end ? log_start - window_end : 0);
        partition_.available += window_end - fresh;
        partition_.beyond_window = end - std::clamp(log_start, window_end, end);
        read_counters();
    }

private:
    void look_at(std::uint64_t offset, std::uint64_t log_start) noexcept {
        const std::uint64_t word = work_.word_of(offset);
        if (work_table::is_done(word, offset)) {
            ++partition_.finished;
            return;
        }
        if (work_.start() > offset) return;  // finished meanwhile; the word may be a later offset's
        if (offset < log_start) ++partition_.lag.lost;
        if (work_table::is_free(word, work_.lap(offset))) {
            if (offset >= log_start) ++partition_.available;
            return;
        }
        count(word, offset >= log_start);
        note_oldest(word, offset);
    }

    /// What retention took is none of the states; a worker may still have it in hand.
    void count(std::uint64_t word, bool there) noexcept {
        const WorkState state = work_table::state_of(word);
        if (state == WorkState::locked) ++held_[work_table::slot_of(word)];
        if (!there) return;
        if (state == WorkState::locked) {
            ++partition_.acquired;
            if (work_table::late(work_table::time_of(word), now_ms_)) ++partition_.lock_over;
        } else if (state != WorkState::ready || work_table::condemned(word)) {
            ++partition_.ending;
        } else if (work_table::late(due_of(word), now_ms_)) {
            ++partition_.available;
        } else {
            ++partition_.delayed;
        }
    }

    [[nodiscard]] static std::uint64_t due_of(std::uint64_t word) noexcept {
        return work_table::state_of(word) == WorkState::preparing ? work_table::preparing_until(word) : work_table::time_of(word);
    }

    void note_oldest(std::uint64_t word, std::uint64_t offset) noexcept {
        if (partition_.oldest_offset) return;
        const WorkState state = work_table::state_of(word);
        partition_.oldest_offset = offset;
        partition_.oldest_deliveries = work_table::count_of(word);
        if (state == WorkState::locked || state == WorkState::preparing) partition_.oldest_holder = work_table::slot_of(word);
        if (state == WorkState::intent) return;
        const std::uint64_t due = due_of(word);
        const std::uint64_t ahead = work_table::until(due, now_ms_);
        const std::uint64_t behind = (now_ms_ - due) & work_table::kClockMask;
        partition_.oldest_due = std::chrono::milliseconds(ahead != 0 ? static_cast<std::int64_t>(ahead) : -static_cast<std::int64_t>(behind));
    }

    // relaxed: statistics
    void read_counters() noexcept {
        partition_.expired = work_.control().expired.load(std::memory_order_relaxed);
        read_work_counts(work_.control(), partition_);
    }

    const Work& work_;
    std::uint64_t now_ms_;
    QueuePartitionDescription& partition_;
    HeldByWorker& held_;
};

}  // namespace

void survey(const Work& work, std::uint64_t now_ms, QueuePartitionDescription& partition, HeldByWorker& held) noexcept {
    Survey(work, now_ms, partition, held).run();
}

}  // namespace ringmain
