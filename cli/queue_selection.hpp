// Which queues a command is about: QUEUE in the topic of -t, or in every topic that has it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "ringmain/broker.hpp"

namespace ringmain::cli {

struct QueueSelection {
    std::string queue;
    std::string topic;  ///< Empty: every topic that has the queue.
};

/// Adds QUEUE and -t. `selection` must outlive the parsing.
void add_selection(CLI::App& command, QueueSelection& selection);

/// The topics. One that cannot be read is told, and hides no other. Throws CommandError if none has the queue.
[[nodiscard]] std::vector<std::string> topics_of(const Broker& broker, const QueueSelection& selection);

}  // namespace ringmain::cli
