// `ringmain topic create|list|describe`; alter, trim and delete have files of their own.
#include <fmt/core.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access_options.hpp"
#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "options.hpp"
#include "output.hpp"
#include "retention_options.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/group_admin.hpp"
#include "signals.hpp"
#include "topic_commands.hpp"
#include "topic_report.hpp"

namespace ringmain::cli {

namespace {

struct TopicArguments {
    std::string name;
    std::string when_full = "overwrite";
    TopicOptions options;
    RetentionArguments retention;
    bool json = false;
};

using Arguments = std::shared_ptr<TopicArguments>;

/// The library's text with the options called as on the command line.
std::string in_our_words(std::string text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNames = {{
        {"payload_bytes", "--payload"},
        {"producer_slots", "--producers"},
        {"cell_bytes", "--cell"},
        {"partitions ", "--partitions "},
        {"records ", "--records "},
        {"first_offset", "--first-offset"},
    }};
    for (const auto& [theirs, ours] : kNames) {
        for (std::size_t at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at + ours.size()))
            text.replace(at, theirs.size(), ours);
    }
    return text;
}

void check_name(const std::string& name) {
    try {
        check_topic_name(name);
    } catch (const Error& error) {
        throw UsageError(error.what());
    }
}

/// Before anything is opened or made.
void check_options(TopicArguments& arguments) {
    TopicOptions& options = arguments.options;
    arguments.retention.apply_to(options.retention);
    if (options.cell_bytes != 64 && options.cell_bytes != 128 && options.cell_bytes != 256) {
        throw UsageError(fmt::format("--cell: {} is none of 64, 128 and 256", options.cell_bytes));
    }
    if (arguments.when_full == "block") {
        options.when_full = WhenFull::block;
    } else if (arguments.when_full != "overwrite") {
        throw UsageError(fmt::format("--when-full: '{}' is neither overwrite nor block", arguments.when_full));
    }
    try {
        check_topic_options(arguments.name, options);
    } catch (const Error& error) {
        throw UsageError(in_our_words(error.what()));
    }
}

TopicDescription create(Broker& broker, const TopicArguments& arguments) {
    try {
        return broker.create_topic(arguments.name, arguments.options, stop_requested);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::interrupted)
            throw CommandError(fmt::format("interrupted: topic '{}' was not created", arguments.name));
        if (error.code() == ErrorCode::invalid_argument)
            throw UsageError(error.what());
        throw;
    }
}

void run_create(const CLI::App& app, TopicArguments& arguments) {
    check_name(arguments.name);
    check_options(arguments);
    catch_stop_signals();  // a creation that is interrupted takes back what it has built
    Broker broker = open_broker(app, Broker::Mode::open_or_create);
    if (broker.is_new())
        note("'{}' is a new broker directory", broker.directory().string());
    const TopicDescription topic = create(broker, arguments);
    print(arguments.json ? topic_to_json(topic) + "\n" : sizes_to_text(topic));
}

void run_list(const CLI::App& app, const TopicArguments& arguments) {
    const Broker broker = open_broker(app);
    if (arguments.json)
        return print(topics_to_json(broker) + "\n");
    std::string text;
    for (const std::string& name : broker.list_topics())
        text.append(name).append("\n");
    print(text);
}

std::vector<GroupDescription> groups_of(const Broker& broker, const std::string& topic) {
    constexpr LagOptions kOffsetsOnly{.time = false, .bytes_records_max = 0};
    GroupAdmin admin(broker);
    std::vector<GroupDescription> groups;
    for (const GroupSummary& group : admin.list(topic))
        groups.push_back(admin.describe(topic, group.name, kOffsetsOnly));
    return groups;
}

void run_describe(const CLI::App& app, const TopicArguments& arguments) {
    const Broker broker = open_broker(app);
    const TopicDescription topic = broker.describe_topic(arguments.name);
    const std::vector<GroupDescription> groups = groups_of(broker, arguments.name);
    print(arguments.json ? topic_to_json(topic, groups) + "\n" : topic_to_text(topic, groups));
}

void add_create(CLI::App& topic, const Arguments& arguments) {
    CLI::App* create = topic.add_subcommand("create", "Create a topic, with all its memory");
    TopicOptions& options = arguments->options;
    create->add_option("NAME", arguments->name, "1 to 249 of a-z A-Z 0-9 . _ -")->required();
    add_number(*create, "--partitions", options.partitions, {1, kPartitionsMax}, "Partitions, 1 to 1024 (default 1)")
        ->type_name("P");
    add_size(*create, "--records", options.records, {kRecordsMin, kRecordsMax},
             "Cells per partition, a power of two from 16 to 256M (default 64K)")
        ->type_name("N");
    add_size(*create, "--cell", options.cell_bytes, {64, 256},
             "Bytes of a cell: 64, 128 or 256; all but 24 carry small records inline (default 128)")
        ->type_name("B");
    add_size(*create, "--payload", options.payload_bytes, {0, kPayloadMax},
             "Bytes per partition for larger records: 0, or a power of two from 64K to 64G (default 16M)")
        ->type_name("B");
    add_number(*create, "--producers", options.producer_slots, {1, kProducerSlotsMax},
               "Producers attached to a partition at one time, a power of two up to 1024 (default 32)")
        ->type_name("S");
    add_number(*create, "--groups", options.groups, {1, kGroupsMax},
               "Consumer groups at one time, 1 to 64 (default 16)")
        ->type_name("G");
    add_number(*create, "--members", options.members, {1, kMembersMax},
               "Members of a group at one time, 1 to 64 (default 32)")
        ->type_name("M");
    create
        ->add_option("--when-full", arguments->when_full,
                     "overwrite the oldest records (default), or block the producers")
        ->type_name("overwrite|block");
    add_retention_options(*create, arguments->retention);
    add_access_options(*create, options.access);
    add_number(*create, "--first-offset", options.first_offset, {0, kFirstOffsetMax}, "Offset of the first record")
        ->group("");
    create->add_flag("--json", arguments->json, "Print the new topic as JSON");
    create->footer(
        "Sizes take the suffixes K, M and G (1024, 1024^2, 1024^3). The broker directory is made if it does not "
        "exist (its\nparent must); that is said on stderr. Interrupted, it leaves nothing.\n\n"
        "Examples:\n"
        "  ringmain topic create trades --partitions 3\n"
        "  ringmain topic create frames --records 4K --payload 256M --when-full block\n"
        "  ringmain topic create metrics --retention-age 90s --retention-bytes 64M\n"
        "  ringmain topic create orders --group desk1 --mode 0640");
    create->callback([create, arguments] { run_create(*create, *arguments); });
}

void add_list(CLI::App& topic, const Arguments& arguments) {
    CLI::App* list = topic.add_subcommand("list", "List the topics");
    list->add_flag("--json", arguments->json, "Print an array of objects");
    list->footer("Example:\n  ringmain topic list");
    list->callback([list, arguments] { run_list(*list, *arguments); });
}

void add_describe(CLI::App& topic, const Arguments& arguments) {
    CLI::App* describe =
        topic.add_subcommand("describe", "Show a topic's options, limits, offsets, producers, gates and groups");
    describe->add_option("NAME", arguments->name, "The topic")->required();
    describe->add_flag("--json", arguments->json, "Print one object");
    describe->footer("Example:\n  ringmain topic describe trades --json");
    describe->callback([describe, arguments] { run_describe(*describe, *arguments); });
}

}  // namespace

void add_topic(CLI::App& app) {
    CLI::App* topic = app.add_subcommand("topic", "Create, list, describe, alter, trim and delete topics");
    topic->require_subcommand(1);
    topic->footer("Example:\n  ringmain topic create --help");
    const auto arguments = std::make_shared<TopicArguments>();
    add_create(*topic, arguments);
    add_list(*topic, arguments);
    add_describe(*topic, arguments);
    add_topic_alter(*topic);
    add_topic_trim(*topic);
    add_topic_delete(*topic);
}

}  // namespace ringmain::cli
