// The subcommands of `ringmain`. Each has a file of its own and is added to the application by one function.
#pragma once

#include <CLI/CLI.hpp>

namespace ringmain::cli {

// Each function adds one subcommand whose callback does the work. A callback returns if all is well, throws
// `UsageError` (exit 2), `ringmain::Error` or any other exception (exit 1, its text goes to stderr after "ringmain: "),
// or `Exit` if it has said all there is to say. See errors.hpp; the broker directory is asked of context.hpp.
void add_topic(CLI::App& app);
void add_produce(CLI::App& app);
void add_consume(CLI::App& app);
void add_group(CLI::App& app);
void add_queue(CLI::App& app);
void add_dlq(CLI::App& app);
void add_who_blocks(CLI::App& app);
void add_stats(CLI::App& app);
void add_top(CLI::App& app);
void add_doctor(CLI::App& app);
void add_verify(CLI::App& app);
void add_dump(CLI::App& app);
void add_demo(CLI::App& app);
void add_perf(CLI::App& app);

}  // namespace ringmain::cli
