// Which queues a command is about: QUEUE in the topic of -t, or in every topic that has it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "ringmain/queue_admin.hpp"

namespace ringmain::cli {

struct QueueSelection {
    std::string queue;
    std::string topic;  ///< Empty: every topic that has the queue.
};

/// Adds QUEUE and -t. `selection` must outlive the parsing.
void add_selection(CLI::App& command, QueueSelection& selection);

/// The topics. Throws CommandError if no topic has the queue.
[[nodiscard]] std::vector<std::string> topics_of(QueueAdmin& admin, const QueueSelection& selection);

}  // namespace ringmain::cli
