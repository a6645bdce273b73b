// Choosing queues.
#include "queue_selection.hpp"

#include <fmt/core.h>

#include "each_topic.hpp"
#include "errors.hpp"
#include "group_report.hpp"
#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

void add_selection(CLI::App& command, QueueSelection& selection) {
    command.add_option("QUEUE", selection.queue, "The work queue")->required();
    command.add_option("-t,--topic", selection.topic, "Only in this topic; otherwise in all topics that have the queue")->type_name("TOPIC");
}

std::vector<std::string> topics_of(const Broker& broker, const QueueSelection& selection) {
    if (!selection.topic.empty())
        return {selection.topic};
    GroupAdmin admin(broker);  // which needs no file of a queue: a damaged one hides no other
    std::vector<std::string> topics;
    std::vector<std::string> streams;
    (void)use_each(broker.list_topics(), false, [&](const std::string& topic) {
        for (const GroupSummary& group : admin.list(topic)) {
            if (group.name == selection.queue)
                (group.state == GroupState::queue ? topics : streams).push_back(topic);
        }
    });
    if (topics.empty() && streams.empty())
        throw CommandError(fmt::format("no topic has a queue '{}'", printable(selection.queue)));
    if (topics.empty())
        throw CommandError(fmt::format("no topic has a queue '{}'; topic '{}' has a consumer group of that name: see 'ringmain group'",
                                       printable(selection.queue), streams.front()));
    return topics;
}

}  // namespace ringmain::cli
