// Choosing queues.
#include "queue_selection.hpp"

#include <fmt/core.h>

#include "errors.hpp"

namespace ringmain::cli {

void add_selection(CLI::App& command, QueueSelection& selection) {
    command.add_option("QUEUE", selection.queue, "The work queue")->required();
    command.add_option("-t,--topic", selection.topic, "Only in this topic; otherwise in all topics that have the queue")->type_name("TOPIC");
}

std::vector<std::string> topics_of(QueueAdmin& admin, const QueueSelection& selection) {
    if (!selection.topic.empty())
        return {selection.topic};
    std::vector<std::string> topics;
    for (QueueSummary& queue : admin.list()) {
        if (queue.name == selection.queue)
            topics.push_back(std::move(queue.topic));
    }
    if (topics.empty())
        throw CommandError(fmt::format("no topic has a queue '{}'", selection.queue));
    return topics;
}

}  // namespace ringmain::cli
