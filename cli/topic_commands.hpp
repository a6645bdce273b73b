// Subcommands of `ringmain topic` that have a file of their own.
#pragma once

#include <CLI/CLI.hpp>

namespace ringmain::cli {

void add_topic_alter(CLI::App& topic);
void add_topic_trim(CLI::App& topic);
void add_topic_delete(CLI::App& topic);

}  // namespace ringmain::cli
