// Deleting the records of a partition before an offset, on request.
#include "record_deletion.hpp"

#include <algorithm>
#include <string>

#include "error_about.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/log_start.hpp"
#include "start_holder.hpp"

namespace ringmain {

RecordsDeleted delete_records(const TopicFiles& topic, const client_table::ClientTable& clients, std::uint32_t partition,
                              std::uint64_t offset) {
    const platform::Mapping file = topic.map_partition(partition, platform::Access::read_write);
    const partition_log::LogMemory<platform::HostMemory> log = topic.log_in(file, partition);
    const partition_log::ControlCheck check = partition_log::check_control(log);
    topic.check_whole(file, partition);
    const std::string where = partition_text(topic.name(), partition) + ":";
    if (!check.sound()) throw error_about(ErrorCode::corrupt, where, to_text(check, log.first_offset));
    if (offset > check.end) {
        throw error_about(ErrorCode::invalid_argument, where,
                          "offset " + std::to_string(offset) + " is beyond the log end " + std::to_string(check.end));
    }
    if (offset <= check.start) return {check.start, check.start, {}};
    const partition_log::StartMoved moved = partition_log::delete_before(log, offset);
    topic.check_whole(file, partition);
    // nobody moves it back: below what was seen before, somebody scribbled
    const std::uint64_t to = std::max(moved.start, check.start);
    return {check.start, to, to < offset ? holder_to_text(log, moved, clients) : std::string()};
}

}  // namespace ringmain
