// A topic that a keeper looks after: its partitions, its groups, and whether its files are still those at their paths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keeper_step.hpp"
#include "kept_queues.hpp"
#include "partition_keeper.hpp"
#include "platform/file_identity.hpp"
#include "platform/files.hpp"
#include "recovery/group_upkeep.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Not thread-safe.
class KeptTopic {
public:
    /// Throws Error as TopicFiles::map_partition; permission_denied if `readers` or `groups` may not be written either.
    explicit KeptTopic(std::shared_ptr<const TopicFiles> files);

    /// The housekeeping of everything in the topic, bounded.
    void step(KeeperStep& step);

    [[nodiscard]] const std::shared_ptr<const TopicFiles>& files() const noexcept { return files_; }
    [[nodiscard]] bool deleted() const noexcept { return files_->deleted(); }
    [[nodiscard]] std::size_t partitions() const noexcept { return partitions_.size(); }

    /// Looks whether names in the topic's directory have changed since the last call; may take a change that is a few milliseconds
    /// old for none, and then sees it the next time. Anything but "no" is to be looked into by find_changed_file.
    [[nodiscard]] bool names_changed() noexcept;
    /// A path that does not name the file any more that is open: the topic's directory, or a file in it.
    struct ChangedFile {
        std::filesystem::path path;
        bool missing = false;
    };
    [[nodiscard]] std::optional<ChangedFile> find_changed_file() const;

private:
    struct OpenFile {
        std::filesystem::path path;
        platform::FileIdentity identity;
    };
    void keep_groups(KeeperStep& step);
    void wake_members() const noexcept;

    std::shared_ptr<const TopicFiles> files_;
    std::vector<PartitionKeeper> partitions_;
    recovery::GroupKeeper<platform::HostMemory> groups_;
    std::optional<KeptQueues> queues_;
    std::vector<OpenFile> open_files_;
    std::optional<platform::DirectoryStamp> names_;
    bool names_settled_ = false;
    bool has_groups_ = true;
    bool age_limited_ = false;
    std::optional<std::int64_t> groups_looked_ns_;
};

}  // namespace ringmain
