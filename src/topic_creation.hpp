// Building a topic's files where nobody sees them.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "platform/files.hpp"
#include "ringmain/topic_options.hpp"
#include "space_need.hpp"

namespace ringmain {

/// What a topic takes, on the file system that `free` is of; nothing: on one of usual pages. Requires checked options.
[[nodiscard]] SpaceNeed need_of(const TopicOptions& options, const std::optional<platform::FreeSpace>& free);

/// Makes `directory`, which must not exist, and all files of the topic in it: allocated, touched, filled and ready. On
/// failure nothing is left. Throws Error: no_space (needed and free bytes), permission_denied, io, interrupted (`stop` said
/// so; it may be empty).
void build_topic(const std::filesystem::path& directory, std::string_view name, const TopicOptions& options,
                 const TopicId& id, const std::function<bool()>& stop);

}  // namespace ringmain
