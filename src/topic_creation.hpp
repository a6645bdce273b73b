// Building a topic's files where nobody sees them.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "ringmain/topic_options.hpp"

namespace ringmain {

/// Makes `directory`, which must not exist, and all files of the topic in it: allocated, touched, filled and ready. On
/// failure nothing is left. Throws Error: no_space (needed and free bytes), permission_denied, io, interrupted (`stop` said
/// so; it may be empty).
void build_topic(const std::filesystem::path& directory, std::string_view name, const TopicOptions& options,
                 const TopicId& id, const std::function<bool()>& stop);

}  // namespace ringmain
