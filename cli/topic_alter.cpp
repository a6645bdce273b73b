// `ringmain topic alter`: what can be changed of a topic that is in use.
#include <fmt/core.h>

#include <memory>
#include <string>

#include "access_options.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "output.hpp"
#include "retention_options.hpp"
#include "rights_text.hpp"
#include "ringmain/broker.hpp"
#include "topic_commands.hpp"
#include "topic_report.hpp"

namespace ringmain::cli {

namespace {

struct AlterArguments {
    std::string name;
    RetentionArguments retention;
    TopicAccess access;
    bool json = false;

    [[nodiscard]] bool changes_access() const { return access != TopicAccess{}; }
};

void alter_retention(Broker& broker, const AlterArguments& arguments) {
    Retention retention = broker.describe_topic(arguments.name).options.retention;
    arguments.retention.apply_to(retention);
    broker.set_retention(arguments.name, retention);
}

void print_altered(const TopicDescription& topic, const AlterArguments& arguments) {
    if (arguments.json)
        return print(topic_to_json(topic) + "\n");
    std::string text = fmt::format("topic             {}\n", topic.name);
    if (!arguments.retention.empty())
        text += retention_lines(topic.options.retention);
    if (arguments.changes_access())
        text += access_line(topic.options.access);
    print(text);
}

void run_alter(const CLI::App& app, const AlterArguments& arguments) {
    if (arguments.retention.empty() && !arguments.changes_access()) {
        throw UsageError(
            "nothing to alter: give --retention-age, --retention-records or --retention-bytes, or --owner, --group or "
            "--mode");
    }
    Broker broker = open_broker(app);
    if (!arguments.retention.empty())
        alter_retention(broker, arguments);
    if (arguments.changes_access())  // last: who gives a topic away may have no right to it then
        broker.set_access(arguments.name, arguments.access);
    print_altered(broker.describe_topic(arguments.name), arguments);
}

}  // namespace

void add_topic_alter(CLI::App& topic) {
    CLI::App* alter = topic.add_subcommand("alter", "Change what a topic that is in use keeps, and who may use it");
    const auto arguments = std::make_shared<AlterArguments>();
    alter->add_option("NAME", arguments->name, "The topic")->required();
    add_retention_options(*alter, arguments->retention);
    add_access_options(*alter, arguments->access);
    alter->add_flag("--json", arguments->json, "Print the topic as JSON");
    alter->footer(
        "What is not given stays as it is. A keeper (ringmaind) deletes by the new limits from its next step on; an "
        "age that is "
        "new\ncounts from then on for the records that are there. A group or gate that holds a topic back holds its "
        "records. Who "
        "has\nthe topic open keeps it open, whatever rights he had.\n\n"
        "Examples:\n"
        "  ringmain topic alter trades --retention-age 7d --retention-bytes 4G\n"
        "  ringmain topic alter trades --retention-age none\n"
        "  ringmain topic alter trades --group desk1 --mode 0640");
    alter->callback([alter, arguments] { run_alter(*alter, *arguments); });
}

}  // namespace ringmain::cli
