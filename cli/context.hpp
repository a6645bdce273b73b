// What every subcommand takes from the application: the broker directory.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "ringmain/broker.hpp"

namespace ringmain::cli {

/// Adds -d to the application. Call it before any subcommand is added.
void add_directory_option(CLI::App& app);

/// The directory of -d, or of RINGMAIN_DIR, or the default. For use in callbacks: complete only once all is parsed.
/// Throws UsageError for an empty path.
[[nodiscard]] std::filesystem::path broker_directory(const CLI::App& app);

/// Opens the broker that -d names. Only creating a topic may make a directory a broker: every other command that
/// finds none fails with the path, instead of working on an empty broker of its own.
[[nodiscard]] Broker open_broker(const CLI::App& app, Broker::Mode mode = Broker::Mode::open);

}  // namespace ringmain::cli
