// Which groups a command is about: GROUP in the topic of -t, or in every topic that has it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

struct GroupSelection {
    std::string group;
    std::string topic;  ///< Empty: every topic that has the group.
};

/// Adds GROUP and -t. `selection` must outlive the parsing.
void add_selection(CLI::App& command, GroupSelection& selection);

/// The topics. One that cannot be read is told, and hides no other. Throws CommandError if none has the group.
[[nodiscard]] std::vector<std::string> topics_of(const Broker& broker, const GroupSelection& selection);

}  // namespace ringmain::cli
