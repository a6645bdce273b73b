// The files of the work on a group's records, open: its settings, its workers, and the words of each partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "group_table/groups_memory.hpp"
#include "layout/work.hpp"
#include "platform/access.hpp"
#include "platform/mapping.hpp"
#include "platform/memory.hpp"
#include "topic_files.hpp"
#include "work_table/work_rules.hpp"

namespace ringmain {

/// `queues/<slot>-<born>` of a topic, checked. The words of a queue's partition are in a file of the generation that the topic's
/// groups name: a reset makes another one, and whoever still has the old one does nothing to anybody's records. Those of a
/// stream group with retries are of generation 0 for ever. One thread at a time.
class WorkFiles {
public:
    using Memory = platform::HostMemory;
    using Worker = layout::WorkerSlot<Memory>;

    /// The file of one partition, mapped until the partition is opened again: for WorkMemory.
    struct Part {
        std::byte* base = nullptr;
        layout::WorkGeometry geometry{};  ///< As it was when it was checked: a copy.
    };

    /// `name`: of the group, for what is said of it. Throws Error: not_found (the group is gone), topic_deleted,
    /// permission_denied, version_mismatch, corrupt (settings that cannot be, files that are missing or of another group).
    WorkFiles(std::shared_ptr<const TopicFiles> topic, group_table::GroupRef group, std::string name, platform::Access access);

    [[nodiscard]] const TopicFiles& topic() const noexcept { return *topic_; }
    [[nodiscard]] const std::shared_ptr<const TopicFiles>& handle() const noexcept { return topic_; }
    [[nodiscard]] group_table::GroupRef group() const noexcept { return group_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    /// The dead-letter topic of that name is another one by now: those who open the files from now on send their letters there.
    /// Whoever reads it meanwhile knows neither of them. Requires Access::read_write.
    void relink(const TopicId& letters, std::uint32_t partitions) noexcept;
    /// As they were when they were checked: a copy.
    [[nodiscard]] const layout::WorkSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] bool is_queue() const noexcept;
    [[nodiscard]] work_table::WorkRules rules() const noexcept;
    /// kWorkersMax of them.
    [[nodiscard]] Worker* workers() const noexcept;

    /// The words of a partition as they were opened last; opened at the first call. Throws as reopen.
    const Part& part(std::uint32_t partition);
    /// Those of the generation that the topic's groups name now: after a reset. If it throws, the old ones stay. Throws Error: not_found (the group is gone), topic_deleted,
    /// permission_denied, version_mismatch, corrupt.
    const Part& reopen(std::uint32_t partition);
    /// Those that are to be used now: opened again if they are not the ones, or if their file was found truncated. Throws as reopen.
    const Part& part_now(std::uint32_t partition);
    /// What was read and written of the partition's words up to now was: neither their file, nor that of the workers, nor the topic's
    /// groups were found truncated (with a truncation guard).
    [[nodiscard]] bool whole(std::uint32_t partition) const noexcept;
    /// The same of the words' file alone.
    [[nodiscard]] bool words_whole(std::uint32_t partition) const noexcept { return !parts_[partition].mapping.truncated(); }
    /// Throws Error corrupt if one of the files that are open was found truncated.
    void check_whole() const;
    /// That of the words that are to be used now.
    [[nodiscard]] std::uint32_t generation_now(std::uint32_t partition) const noexcept;
    [[nodiscard]] bool gone() const noexcept;

private:
    struct Open {
        platform::Mapping mapping;
        Part part;
    };
    void open_workers();
    [[nodiscard]] Open open_words(std::uint32_t partition, std::uint32_t generation) const;
    [[noreturn]] void fail(const std::exception_ptr& failure) const;

    std::shared_ptr<const TopicFiles> topic_;
    group_table::GroupRef group_;
    std::string name_;
    platform::Access access_;
    std::filesystem::path directory_;
    platform::Mapping workers_;
    layout::WorkSettings settings_{};
    std::vector<Open> parts_;  // by partition
};

}  // namespace ringmain
