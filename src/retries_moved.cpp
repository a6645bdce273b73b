// Telling those who retry a group's records that the group is about to be moved.
#include "retries_moved.hpp"

#include "platform/files.hpp"
#include "topic_paths.hpp"
#include "work_table/work_memory.hpp"

namespace ringmain {

bool has_retries(const TopicFiles& topic, group_table::GroupRef group) {
    return platform::kind_of(work_path(topic.directory(), group.slot, group.born)) != platform::PathKind::absent;
}

RetriesMoved::RetriesMoved(const std::shared_ptr<const TopicFiles>& topic, group_table::GroupRef group,
                           const std::string& name) {
    if (has_retries(*topic, group))
        files_.emplace(topic, group, name, platform::Access::read_write);
}

void RetriesMoved::announce(std::uint32_t partition, std::uint32_t generation) {
    if (!files_)
        return;
    const WorkFiles::Part& part = files_->part(partition);
    work_table::WorkMemory<platform::HostMemory>(part.base, part.geometry, files_->topic().groups(), {})
        .mark_rewound(generation);
    files_->check_whole();  // a mark that nobody sees would leave records finished that are to be done anew
}

}  // namespace ringmain
