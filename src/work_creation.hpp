// Building the files of the work on a group's records where nobody finds them, and removing them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "group_table/groups_memory.hpp"
#include "layout/work.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// What the work on a group's records begins with.
struct NewWork {
    group_table::GroupRef group;
    layout::WorkSettings settings{};             ///< Without a fault; whose it is, is filled in.
    std::uint64_t window = 0;                    ///< is_window.
    std::vector<std::uint32_t> generations;      ///< By partition: of the words that the files are for.
};

/// Bytes that the files take on a file system of small pages.
[[nodiscard]] std::uint64_t work_bytes(std::uint32_t partitions, std::uint64_t window) noexcept;

enum class WorkMade : std::uint8_t {
    made,
    exists,  ///< Somebody else had made it; it stays as it is.
};

/// Makes `queues/<slot>-<born>`, complete: every file allocated, touched, stamped, and with the rights of the topic's other files.
/// `work_name`: from Broker::Impl::work_name. On failure nothing is left. If the caller dies, a keeper sweeps what is left, by
/// the name. Throws Error: no_space (needed and free bytes), permission_denied, topic_deleted, io.
WorkMade make_work(const TopicFiles& topic, const std::string& work_name, const NewWork& work);

/// Makes the file of a partition for another generation, with words that are all free, and else like `like`. One that exists is
/// as good: nobody has used it before the table names its generation. On failure nothing is left. Throws as make_work.
void make_words(const TopicFiles& topic, const std::string& work_name, const layout::WorkGeometry& like, std::uint32_t generation);

/// Removes all that make_work made. Who has it mapped goes on, in memory that nobody else sees. False: something is left.
bool remove_work(const TopicFiles& topic, group_table::GroupRef group) noexcept;

/// Removes the file of a generation that is over, or that came to nothing. False: it is there still, or nothing of the group is.
bool remove_words(const TopicFiles& topic, group_table::GroupRef group, std::uint32_t partition, std::uint32_t generation) noexcept;

/// The work name in that of a directory within `queues` in which something is being built. Empty: it is none.
[[nodiscard]] std::string_view work_name_of(std::string_view file_name) noexcept;

}  // namespace ringmain
