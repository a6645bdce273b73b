// The housekeeping of one partition, in bounded steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keeper_step.hpp"
#include "partition_log/doorbell.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/mapping.hpp"
#include "platform/memory.hpp"
#include "retention_keeper.hpp"
#include "ringmain/keeper.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Not thread-safe. What it remembers between steps are only times and places to look at; all state is in the partition.
class PartitionKeeper {
public:
    using Memory = platform::HostMemory;

    /// Throws Error as TopicFiles::map_partition. `topic` must outlive it.
    PartitionKeeper(const TopicFiles& topic, std::uint32_t partition);

    /// Visits at most a few thousand cells, and nothing but three words while the partition rests. `age_limited`: some group
    /// of the topic is to be let go when its next record is too old.
    void step(KeeperStep& step, bool age_limited);

    /// When step() is to be called again although nothing in the partition changes and nobody dies: a time of the clock that
    /// steps are given; kNothingDue: not at all. Asked after each step.
    [[nodiscard]] std::int64_t due_ns() const noexcept { return due_ns_; }

    [[nodiscard]] platform::FileIdentity file_identity() const noexcept { return mapping_.identity(); }
    /// Valid as long as this object, wherever it is moved to.
    [[nodiscard]] const partition_log::LogMemory<Memory>& log() const noexcept { return log_; }
    [[nodiscard]] std::uint64_t file_bytes() const noexcept { return mapping_.size(); }
    /// It was found so by a truncation guard: what is mapped is no file any more.
    [[nodiscard]] bool truncated() const noexcept { return mapping_.truncated(); }
    /// Why the offsets in the log cannot be; empty: they can.
    [[nodiscard]] std::string contradiction() const;
    /// The last step found nothing changed.
    [[nodiscard]] bool rested() const noexcept { return rested_; }

private:
    /// What a producer's entry showed, and since when.
    struct Seen {
        std::uint64_t owner = 0;
        std::uint64_t ticket = 0;
        std::int64_t since_ns = 0;
        bool judged = false;  // it was closed, or searched for below log_end as it was then
        std::uint64_t log_end = 0;
    };

    /// What moves when there may be something to do, but for deaths.
    struct Signs {
        std::uint64_t log_end = 0;
        std::uint64_t closings = 0;
        bool close_requested = false;
        friend bool operator==(const Signs&, const Signs&) = default;
    };

    [[nodiscard]] Signs signs() const noexcept;
    [[nodiscard]] bool rests(const Signs& now, const KeeperStep& step) const noexcept;
    [[nodiscard]] std::int64_t next_due_ns(std::int64_t now_ns) const noexcept;
    void let_groups_go(KeeperStep& step);
    void reap_gates(KeeperStep& step);
    void find_reaped_by_others() noexcept;
    void reap_producers(KeeperStep& step);
    void close_stuck_tickets(KeeperStep& step);
    [[nodiscard]] bool is_stuck(Seen& seen, std::uint64_t owner, std::uint64_t ticket, std::int64_t now_ns) const noexcept;
    void close_held(std::uint64_t first, std::uint64_t count, KeeperReport& report);
    void request_scan() noexcept;
    void scan_for_open_tickets(KeeperStep& step);
    void release_cells(KeeperStep& step);
    [[nodiscard]] bool sweep_is_due(std::int64_t now_ns) noexcept;
    void close_if_open(std::uint64_t offset, KeeperReport& report);
    /// Tells one event of this partition. `subject()` makes its text.
    template <class Subject>
    void tell(const KeeperStep& step, KeeperEventKind kind, const Subject& subject, std::uint64_t count = 0, std::uint64_t from = 0,
              std::uint64_t to = 0) const {
        step.events.tell([&] { return KeeperEvent{kind, topic_, partition_, subject(), count, from, to}; });
    }
    void tell_count(const KeeperStep& step, KeeperEventKind kind, std::uint64_t count) const;

    std::string topic_;
    std::uint32_t partition_;
    platform::Mapping mapping_;
    partition_log::LogMemory<Memory> log_;
    partition_log::Doorbell<Memory> doorbell_;
    RetentionKeeper retention_;
    std::vector<Seen> seen_;  // by slot
    std::uint64_t seen_reaped_ = 0;

    // The last look, and when the next must be.
    bool looked_ = false;
    bool rested_ = false;
    Signs seen_signs_;
    std::uint64_t seen_deaths_ = 0;
    std::int64_t looked_ns_ = 0;
    std::int64_t due_ns_ = kNothingDue;
    std::optional<std::int64_t> let_go_ns_;

    // A producer died or stopped between "taking" and its ticket: the ticket has to be searched for.
    std::uint64_t scan_at_ = 0;
    std::uint64_t scan_end_ = 0;
    std::vector<std::uint64_t> suspects_;
    std::int64_t suspects_since_ns_ = 0;

    // Quarantined cells exist only if `closings` has grown since the last complete sweep, or some had to wait then.
    std::uint64_t sweep_at_ = 0;
    std::uint64_t sweep_closings_ = 0;
    std::uint64_t swept_closings_ = 0;
    // A closer that stopped in the middle may quarantine a cell long after it announced that: then sweep now and then.
    // So do cells that had to wait for their holder.
    bool swept_once_ = false;
    bool sweep_waiting_ = false;
    std::int64_t swept_ns_ = 0;
};

}  // namespace ringmain
