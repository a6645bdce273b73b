// `ringmain topic alter`: what can be changed of a topic that is in use.
#include <fmt/core.h>

#include <memory>
#include <string>

#include "context.hpp"
#include "errors.hpp"
#include "output.hpp"
#include "retention_options.hpp"
#include "ringmain/broker.hpp"
#include "topic_commands.hpp"
#include "topic_report.hpp"

namespace ringmain::cli {

namespace {

struct AlterArguments {
    std::string name;
    RetentionArguments retention;
    bool json = false;
};

void run_alter(const CLI::App& app, const AlterArguments& arguments) {
    if (arguments.retention.empty())
        throw UsageError("nothing to alter: give --retention-age, --retention-records or --retention-bytes");
    Broker broker = open_broker(app);
    Retention retention = broker.describe_topic(arguments.name).options.retention;
    arguments.retention.apply_to(retention);
    broker.set_retention(arguments.name, retention);
    const TopicDescription topic = broker.describe_topic(arguments.name);
    if (arguments.json)
        return print(topic_to_json(topic) + "\n");
    print(fmt::format("topic             {}\n{}", topic.name, retention_lines(topic.options.retention)));
}

}  // namespace

void add_topic_alter(CLI::App& topic) {
    CLI::App* alter = topic.add_subcommand("alter", "Change what a topic that is in use keeps");
    const auto arguments = std::make_shared<AlterArguments>();
    alter->add_option("NAME", arguments->name, "The topic")->required();
    add_retention_options(*alter, arguments->retention);
    alter->add_flag("--json", arguments->json, "Print the topic as JSON");
    alter->footer(
        "What is not given stays as it is. A keeper (ringmaind) deletes by the new limits from its next step on; an age that is "
        "new\ncounts from then on for the records that are there. A group or gate that holds a topic back holds its records.\n\n"
        "Examples:\n"
        "  ringmain topic alter trades --retention-age 7d --retention-bytes 4G\n"
        "  ringmain topic alter trades --retention-age none");
    alter->callback([alter, arguments] { run_alter(*alter, *arguments); });
}

}  // namespace ringmain::cli
