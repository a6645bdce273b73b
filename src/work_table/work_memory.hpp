// The memory of the work on one partition, given to the structures, and how each of its words is read and changed.
//
// The window of unfinished offsets begins at the group's committed offset, `start`: the partition's word in the groups table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "group_table/groups_memory.hpp"
#include "layout/work.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/reader.hpp"
#include "ringmain/topic_options.hpp"
#include "work_table/work_words.hpp"

namespace ringmain::work_table {

/// Pointers into the mappings of a partition's work file, the topic's groups and the partition's log. A value.
template <class M>
class WorkMemory {
public:
    using Control = layout::WorkControl<M>;
    using Word = typename M::template Atomic<std::uint64_t>;

    WorkMemory() = default;
    /// `base`: the mapped work file (or a plain array of the same layout). Requires a geometry that has been checked: window a
    /// power of two, at most the log's records; and a group slot and partition of the table.
    WorkMemory(std::byte* base, const layout::WorkGeometry& geometry, const group_table::GroupsMemory<M>& groups,
               const partition_log::LogMemory<M>& log) noexcept
        : WorkMemory(reinterpret_cast<Control*>(base + layout::kWorkControlAt), reinterpret_cast<Word*>(base + layout::kWorkWordsAt),
                     geometry, groups, log) {}
    WorkMemory(Control* control, Word* words, const layout::WorkGeometry& geometry, const group_table::GroupsMemory<M>& groups,
               const partition_log::LogMemory<M>& log) noexcept
        : control_(control),
          words_(words),
          window_(geometry.window),
          generation_(geometry.generation),
          group_{geometry.group_slot, geometry.group_born},
          partition_(geometry.partition),
          groups_(groups),
          log_(log) {}

    [[nodiscard]] Control& control() const noexcept { return *control_; }
    [[nodiscard]] std::uint64_t window() const noexcept { return window_; }
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
    [[nodiscard]] std::uint32_t partition() const noexcept { return partition_; }
    [[nodiscard]] group_table::GroupRef group() const noexcept { return group_; }
    [[nodiscard]] const group_table::GroupsMemory<M>& groups() const noexcept { return groups_; }
    [[nodiscard]] partition_log::Reader<M> reader() const noexcept { return partition_log::Reader<M>(log_); }
    [[nodiscard]] const partition_log::LogMemory<M>& log() const noexcept { return log_; }

    [[nodiscard]] std::uint64_t lap(std::uint64_t offset) const noexcept { return lap_of(offset, window_); }
    [[nodiscard]] Word& word(std::uint64_t offset) const noexcept { return words_[offset & (window_ - 1)]; }
    [[nodiscard]] std::uint64_t word_of(std::uint64_t offset) const noexcept {
        return word(offset).load(std::memory_order_acquire);  // acquire WORK
    }
    /// The only way in which a word changes: from exactly what was read. Lost: somebody else was faster.
    bool change(std::uint64_t offset, std::uint64_t from, std::uint64_t to) const noexcept {
        // release WORK, acquire WORK
        return word(offset).compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire);
    }

    /// The first offset that is not known to be finished. After a reset of the group nothing of this file counts: see current().
    [[nodiscard]] std::uint64_t start() const noexcept {
        return groups_.cell(group_.slot, partition_).word.low.load(std::memory_order_acquire) >> 2;  // acquire GROUP_WORD
    }
    /// The partition's word, if it is still that of this file.
    [[nodiscard]] bool current(group_table::PartitionWord& place) const noexcept {
        place = groups_.word(group_.slot, partition_);
        return place.generation == generation_ && groups_.born(group_.slot) == group_.born;
    }
    [[nodiscard]] bool current() const noexcept {
        group_table::PartitionWord place;
        return current(place);
    }
    /// Moves the start, from exactly what was seen, and keeps all else. False: somebody else moved it, or the group went back.
    bool move_start(group_table::PartitionWord& from, std::uint64_t to) const noexcept {
        group_table::PartitionWord moved = from;
        moved.committed = to;
        moved.touched = true;
        return groups_.change_word(group_.slot, partition_, from, moved);
    }

    /// What retention has passed. A start that cannot be, as that of a file that was truncated, has passed nothing.
    [[nodiscard]] std::uint64_t log_start() const noexcept {
        const std::uint64_t start = log_.control->log_start.load(std::memory_order_acquire);  // acquire LOG_START
        return start <= kOffsetMax ? start : 0;
    }
    /// The log cannot be read with what is mapped: nothing is known of any record.
    [[nodiscard]] bool log_damaged() const noexcept {
        return log_.control->log_start.load(std::memory_order_acquire) > kOffsetMax;  // acquire LOG_START
    }
    [[nodiscard]] std::uint64_t log_end() const noexcept {
        return log_.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
    }

    [[nodiscard]] std::uint64_t next_due() const noexcept {
        return control_->next_due.load(std::memory_order_relaxed);  // relaxed: a hint, wrong for kSweepMs at most
    }
    bool change_next_due(std::uint64_t from, std::uint64_t to) const noexcept {
        return control_->next_due.compare_exchange_strong(from, to & kClockMask, std::memory_order_relaxed);  // relaxed: a hint
    }
    /// Something is due at `time`, perhaps before what the hint says.
    void lower_next_due(std::uint64_t time, std::uint64_t now) const noexcept {
        for (std::uint64_t seen = next_due(); earlier(time, seen, now); seen = next_due()) {
            if (change_next_due(seen, time)) return;
        }
    }

    /// Offsets below may have words. Of who is alone with the partition; workers of queues claim instead.
    void raise_frontier(std::uint64_t to) const noexcept {
        std::uint64_t seen = control_->frontier.load(std::memory_order_relaxed);  // relaxed: the exchange decides
        // release FRONTIER, acquire FRONTIER; lost: it is higher, or is looked at again
        while (seen < to && !control_->frontier.compare_exchange_weak(seen, to, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        }
    }
    /// The group is about to be moved, by an exchange that makes this its generation: to be told before. What finished words say
    /// is not true any more then. Whoever dies before the exchange makes the next owner repeat some records.
    void mark_rewound(std::uint32_t generation) const noexcept {
        std::uint64_t seen = control_->rewound.load(std::memory_order_relaxed);  // relaxed: the exchange decides
        const auto is_later = [&] { return seen == 0 || static_cast<std::int32_t>(generation - static_cast<std::uint32_t>(seen)) > 0; };
        // release REWOUND: before the exchange of the partition's word; never replaced by an earlier one that is still under way
        while (is_later() && !control_->rewound.compare_exchange_weak(seen, generation, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        }
    }
    /// What was told is done. Lost: the group is about to be moved again.
    void clear_rewound(std::uint64_t seen) const noexcept {
        // release REWOUND, acquire REWOUND
        control_->rewound.compare_exchange_strong(seen, 0, std::memory_order_acq_rel, std::memory_order_acquire);
    }

    /// Counts what is rare.
    static void count(Word& counter, std::uint64_t by = 1) noexcept {
        counter.fetch_add(by, std::memory_order_relaxed);  // relaxed: a statistic
    }

private:
    Control* control_ = nullptr;
    Word* words_ = nullptr;
    std::uint64_t window_ = 1;
    std::uint32_t generation_ = 0;
    group_table::GroupRef group_;
    std::uint32_t partition_ = 0;
    group_table::GroupsMemory<M> groups_;
    partition_log::LogMemory<M> log_;
};

}  // namespace ringmain::work_table
