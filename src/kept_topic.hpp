// A topic that a keeper looks after: its partitions, its groups, and whether its files are still those at their paths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keeper_step.hpp"
#include "kept_partition.hpp"
#include "kept_queues.hpp"
#include "platform/file_identity.hpp"
#include "recovery/group_upkeep.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Not thread-safe.
class KeptTopic {
public:
    /// Opens no partition yet. Throws Error permission_denied if `topic.meta`, `readers` or `groups` may not be written.
    explicit KeptTopic(std::shared_ptr<const TopicFiles> files);

    /// Opens partitions, as many as the step may; then the housekeeping of everything in the topic that is open, bounded.
    void step(KeeperStep& step);
    /// Every partition was looked at.
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    /// What is wrong with the files that all of it needs; nothing: they can be used.
    [[nodiscard]] std::optional<std::string> trouble() const;

    [[nodiscard]] const std::shared_ptr<const TopicFiles>& files() const noexcept { return files_; }
    [[nodiscard]] bool deleted() const noexcept { return files_->deleted(); }
    /// That somebody looks after, and those that nobody can.
    [[nodiscard]] std::size_t partitions() const noexcept { return kept_; }
    [[nodiscard]] std::size_t unreadable_partitions() const noexcept { return complete_ ? partitions_.size() - kept_ : 0; }

    /// Looks at the paths of the partitions' files.
    void look_at_partitions(KeeperStep& step);
    /// A path that does not name the file any more that is open, or one that is no longer whole: the topic's directory, or a file that all of it
    /// needs.
    struct ChangedFile {
        enum class How : std::uint8_t { missing, replaced, truncated };
        std::filesystem::path path;
        How how = How::missing;
    };
    [[nodiscard]] std::optional<ChangedFile> find_changed_file() const;

private:
    void keep_groups(KeeperStep& step);
    void wake_members() const noexcept;

    std::shared_ptr<const TopicFiles> files_;
    std::vector<KeptPartition> partitions_;
    std::size_t kept_ = 0;
    bool complete_ = false;
    recovery::GroupKeeper<platform::HostMemory> groups_;
    std::shared_ptr<KeptQueue::Logs> logs_;
    std::optional<KeptQueues> queues_;
    bool has_groups_ = true;
    bool age_limited_ = false;
    std::optional<std::int64_t> groups_looked_ns_;
    std::uint64_t seen_deaths_ = 0;
};

}  // namespace ringmain
