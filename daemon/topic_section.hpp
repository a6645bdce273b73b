// A topic's options in the configuration file.
#pragma once

#include <string>

#include "ringmain/topic_options.hpp"
#include "table_reader.hpp"

namespace ringmain::daemon {

/// The options that the table gives, and `defaults` for the others. What is wrong goes into `problems`.
[[nodiscard]] TopicOptions read_topic_options(const toml::table& table, const std::string& path,
                                              const TopicOptions& defaults, ProblemList& problems);

}  // namespace ringmain::daemon
