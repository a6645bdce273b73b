// What `group reset` and `queue reset` have in common: a plan that is shown, saved, and carried out if it is wanted.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

struct ResetArguments {
    std::string to;
    std::string from_file;
    std::string save_plan;
    bool execute = false;
    bool force = false;
    bool json = false;
};

/// What is reset, and how.
struct ResetOf {
    std::string_view noun;  ///< "group".
    std::string name;
    std::string topic;      ///< Only there; empty: wherever it is.
    std::function<std::vector<std::string>()> topics;
    std::function<ResetPlan(const std::string& topic, const ResetTarget& target)> plan;
    std::function<std::vector<PartitionResetDone>(const ResetPlan& plan, bool force)> execute;
};

/// `who`: who is in the way unless it is forced. `arguments` must outlive the parsing.
void add_reset_options(CLI::App& command, ResetArguments& arguments, const std::string& who);
/// Before anything is opened. Throws UsageError.
void check_reset(const ResetArguments& arguments);
void run_reset(const ResetOf& reset, const ResetArguments& arguments);

/// For help texts: the targets of --to.
inline constexpr const char* kResetTargets =
    "Targets (--to), for each partition:\n"
    "  earliest    the oldest record kept\n"
    "  latest      the end\n"
    "  OFFSET      this offset\n"
    "  @TIME       the first record not before TIME: milliseconds since the epoch, or ISO 8601\n"
    "  +N, -N      so many offsets forward, or back, from the committed offset\n"
    "  -DURATION   the first record of the last -500ms, -90s, -10m, -2h, -1d\n"
    "Targets outside of what the log holds become its start or its end, and are marked.\n\n";

}  // namespace ringmain::cli
