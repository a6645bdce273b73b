// Subcommands of `ringmain queue` that have a file of their own.
#pragma once

#include <CLI/CLI.hpp>

namespace ringmain::cli {

void add_queue_create(CLI::App& queue);
void add_queue_redrive(CLI::App& queue);
void add_queue_reset(CLI::App& queue);

}  // namespace ringmain::cli
