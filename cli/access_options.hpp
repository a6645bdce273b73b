// --owner, --group and --mode of the commands that make and change topics.
#pragma once

#include <CLI/CLI.hpp>

#include "ringmain/topic_options.hpp"

namespace ringmain::cli {

/// The values go into `access`, which must outlive the parsing; wrong ones are usage errors that name option and value.
void add_access_options(CLI::App& app, TopicAccess& access);

}  // namespace ringmain::cli
