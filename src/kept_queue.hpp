// A queue that a keeper looks after: what dead workers hold returns, the start passes what is finished, losses are told.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "group_table/groups_memory.hpp"
#include "keeper_step.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/memory.hpp"
#include "work_files.hpp"
#include "work_table/work_memory.hpp"

namespace ringmain {

/// Nothing waits for it: locks run out, and workers do the rest themselves. Not thread-safe.
class KeptQueue {
public:
    using Memory = platform::HostMemory;
    /// Of a partition; nothing while nobody looks after it.
    struct Log {
        const partition_log::LogMemory<Memory>* memory = nullptr;
        std::uint64_t opened = 0;  // how often it was: then it is another one
    };
    using Logs = std::vector<Log>;  // by partition; brought up to date before each step

    /// Throws Error as WorkFiles.
    KeptQueue(std::shared_ptr<const TopicFiles> topic, group_table::GroupRef group, std::string name, std::shared_ptr<const Logs> logs);

    /// Looks at one word of each partition, and at the workers if somebody died since the last step.
    void step(KeeperStep& step);

    [[nodiscard]] group_table::GroupRef group() const noexcept { return work_.group(); }

private:
    using Work = work_table::WorkMemory<Memory>;
    struct Part {
        std::optional<Work> work;  // nothing: it cannot be opened
        std::uint32_t generation = 0;          // that was opened, or could not be
        std::uint64_t opened = 0;              // of its log, likewise
        bool known = false;                    // the figures below are
        std::optional<std::int64_t> failed_ns;
        std::uint64_t lost = 0;                // what its counters said last
        std::uint64_t letters_refused = 0;
    };

    /// The words of the generation that counts now; nothing if they cannot be opened.
    [[nodiscard]] const Work* words(std::uint32_t partition, std::int64_t now_ns) noexcept;
    void reap_workers(KeeperStep& step);
    void reap(std::uint32_t slot, std::uint64_t owner, KeeperStep& step);
    /// What the slot's dead owner held, in all partitions. Nothing: some cannot be opened.
    [[nodiscard]] std::optional<std::uint64_t> return_records(std::uint32_t slot, std::uint64_t owner, std::int64_t now_ns);
    void wake(std::uint32_t partition) const noexcept;
    static void advance(const Work& work, KeeperStep& step) noexcept;
    void tell_losses(std::uint32_t partition, Part& part, const KeeperStep& step);

    WorkFiles work_;
    std::shared_ptr<const Logs> logs_;
    std::vector<Part> parts_;  // by partition
    std::optional<std::uint64_t> seen_deaths_;
    std::uint64_t refused_ = 0;  // letters, not told yet
    std::optional<std::int64_t> refused_told_ns_;
};

}  // namespace ringmain
