// Telling those who retry a group's records that the group is about to be moved.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "group_table/groups_memory.hpp"
#include "topic_files.hpp"
#include "work_files.hpp"

namespace ringmain {

/// The group has what retries need beside the table. Throws Error: permission_denied, io.
[[nodiscard]] bool has_retries(const TopicFiles& topic, group_table::GroupRef group);

/// Whoever moves a stream group, back or forward, tells those who retry its records before each exchange of a
/// partition's word. Does nothing for a group without retries.
class RetriesMoved {
public:
    /// `name`: of the group, for what is said of it. Throws Error as WorkFiles.
    RetriesMoved(const std::shared_ptr<const TopicFiles>& topic, group_table::GroupRef group, const std::string& name);

    /// Requires that the caller is about to make `generation` that of the partition. Throws Error as WorkFiles::part.
    void announce(std::uint32_t partition, std::uint32_t generation);

private:
    std::optional<WorkFiles> files_;
};

}  // namespace ringmain
