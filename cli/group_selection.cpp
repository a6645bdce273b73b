// Choosing groups.
#include "group_selection.hpp"

#include <fmt/core.h>

#include "errors.hpp"

namespace ringmain::cli {

void add_selection(CLI::App& command, GroupSelection& selection) {
    command.add_option("GROUP", selection.group, "The consumer group")->required();
    command.add_option("-t,--topic", selection.topic, "Only in this topic; otherwise in all topics that have the group")->type_name("TOPIC");
}

std::vector<std::string> topics_of(GroupAdmin& admin, const GroupSelection& selection) {
    if (!selection.topic.empty())
        return {selection.topic};
    std::vector<std::string> topics = admin.topics_of(selection.group);
    if (topics.empty())
        throw CommandError(fmt::format("no topic has a consumer group '{}'", selection.group));
    return topics;
}

}  // namespace ringmain::cli
