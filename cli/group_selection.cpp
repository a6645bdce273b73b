// Choosing groups.
#include "group_selection.hpp"

#include <fmt/core.h>

#include "each_topic.hpp"
#include "errors.hpp"

namespace ringmain::cli {

void add_selection(CLI::App& command, GroupSelection& selection) {
    command.add_option("GROUP", selection.group, "The consumer group")->required();
    command.add_option("-t,--topic", selection.topic, "Only in this topic; otherwise in all topics that have the group")->type_name("TOPIC");
}

std::vector<std::string> topics_of(const Broker& broker, const GroupSelection& selection) {
    if (!selection.topic.empty())
        return {selection.topic};
    GroupAdmin admin(broker);
    std::vector<std::string> topics;
    (void)use_each(broker.list_topics(), false, [&](const std::string& topic) {
        for (const GroupSummary& group : admin.list(topic)) {
            if (group.name == selection.group)
                topics.push_back(topic);
        }
    });
    if (topics.empty())
        throw CommandError(fmt::format("no topic has a consumer group '{}'", printable(selection.group)));
    return topics;
}

}  // namespace ringmain::cli
