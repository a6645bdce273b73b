// `ringmain group list|describe|lag|delete`; reset has a file of its own.
#include "group_commands.hpp"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "each_topic.hpp"
#include "errors.hpp"
#include "group_report.hpp"
#include "group_selection.hpp"
#include "options.hpp"
#include "output.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

struct GroupArguments {
    GroupSelection selection;
    LagOptions lag;
    bool force = false;
    bool json = false;
};

using Arguments = std::shared_ptr<GroupArguments>;

std::vector<GroupDescription> describe(const CLI::App& app, const GroupArguments& arguments) {
    const Broker broker = open_broker(app);
    GroupAdmin admin(broker);
    std::vector<GroupDescription> groups;
    for (const std::string& topic : topics_of(broker, arguments.selection))
        groups.push_back(admin.describe(topic, arguments.selection.group, arguments.lag));
    return groups;
}

/// A damaged topic must not hide the others.
void run_list(const CLI::App& app, const GroupArguments& arguments) {
    const Broker broker = open_broker(app);
    GroupAdmin admin(broker);
    const std::string& topic = arguments.selection.topic;
    std::vector<GroupSummary> groups;
    const bool all = use_each(topic.empty() ? broker.list_topics() : std::vector<std::string>{topic}, !topic.empty(), [&](const std::string& name) {
        for (GroupSummary& group : admin.list(name))
            groups.push_back(std::move(group));
    });
    print(arguments.json ? groups_to_json(groups) + "\n" : groups_to_text(groups));
    if (!all)
        throw Exit{kExitFailed};
}

void run_describe(const CLI::App& app, const GroupArguments& arguments) {
    const std::vector<GroupDescription> groups = describe(app, arguments);
    if (arguments.json)
        return print(groups_to_json(groups) + "\n");
    std::string text;
    for (const GroupDescription& group : groups)
        text.append(text.empty() ? "" : "\n").append(group_to_text(group));
    print(text);
}

void run_lag(const CLI::App& app, const GroupArguments& arguments) {
    const std::vector<GroupDescription> groups = describe(app, arguments);
    print(arguments.json ? lag_to_json(groups) + "\n" : lag_to_text(groups));
}

/// What can be deleted is, also if the group has members in another topic.
void run_delete(const CLI::App& app, const GroupArguments& arguments) {
    hold_stop_signals();
    const Broker broker = open_broker(app);
    GroupAdmin admin(broker);
    delete_in_each(admin, topics_of(broker, arguments.selection), "group", arguments.selection.group, arguments.force);
}

void add_lag_options(CLI::App& command, const Arguments& arguments) {
    add_number(command, "--sample", arguments->lag.bytes_records_max, {0, kRecordsMax},
               "Records per partition that are looked at for LAG-BYTES (default 1024); 0 leaves it out")
        ->type_name("N");
    command.add_flag("--json", arguments->json, "Print an array of objects");
}

void add_list(CLI::App& group, const Arguments& arguments) {
    CLI::App* list = group.add_subcommand("list", "List the consumer groups");
    list->add_option("-t,--topic", arguments->selection.topic, "Only those of this topic")->type_name("TOPIC");
    list->add_flag("--json", arguments->json, "Print an array of objects");
    list->footer(
        "STATE: empty (no members), stable (every partition is owned by a member), rebalancing (a partition waits to be "
        "taken),\nqueue (a work queue: see 'ringmain queue').\n\nExamples:\n  ringmain group list\n  ringmain group list -t trades --json");
    list->callback([list, arguments] { run_list(*list, *arguments); });
}

void add_describe(CLI::App& group, const Arguments& arguments) {
    CLI::App* describe = group.add_subcommand("describe", "Show a group's options, members, partitions and lag");
    add_selection(*describe, arguments->selection);
    add_lag_options(*describe, arguments);
    describe->footer(
        "COMMITTED(NEXT) is the next offset that the group reads; '-': nobody has committed yet. LOST: records that went before "
        "the\ngroup read them; they are not in LAG. Of a group with retries also: WAITING for their back-off; IN-HAND: an attempt "
        "has\nbegun; ENDING: on their way to the dead letters, or stopped at; FINISHED behind one that is not; and what was counted "
        "since\nthe group began.\n\n"
        "Examples:\n  ringmain group describe billing\n  ringmain group describe billing -t trades --json");
    describe->callback([describe, arguments] { run_describe(*describe, *arguments); });
}

void add_lag(CLI::App& group, const Arguments& arguments) {
    CLI::App* lag = group.add_subcommand("lag", "Show how far a group is behind: records, bytes, time");
    add_selection(*lag, arguments->selection);
    add_lag_options(*lag, arguments);
    lag->footer(
        "COMMITTED is the next offset to read; '-': nobody has committed yet. LAG-BYTES: keys, values and headers of the unread\n"
        "records; '~': extrapolated, because there are more of them than --sample. LAG-MS: the age of the oldest unread record by "
        "its\ntimestamp. Needs no daemon, and no right but to read.\n\n"
        "Examples:\n  ringmain group lag billing\n  ringmain group lag billing --json | jq 'map(.lag) | add'");
    lag->callback([lag, arguments] { run_lag(*lag, *arguments); });
}

void add_delete(CLI::App& group, const Arguments& arguments) {
    CLI::App* remove = group.add_subcommand("delete", "Delete a group and its committed offsets");
    add_selection(*remove, arguments->selection);
    remove->add_flag("--force", arguments->force, "Also if it has members; they find out at their next poll");
    remove->footer("Examples:\n  ringmain group delete billing -t trades\n  ringmain group delete billing --force");
    remove->callback([remove, arguments] { run_delete(*remove, *arguments); });
}

}  // namespace

std::string in_force_words(const Error& error) {
    std::string text = error.what();
    if (error.code() == ErrorCode::busy)
        text.append(" (--force)");
    return text;
}

void add_group(CLI::App& app) {
    CLI::App* group = app.add_subcommand("group", "List, describe, reset and delete consumer groups; show their lag");
    group->require_subcommand(1);
    group->footer("Example:\n  ringmain group lag --help");
    const auto arguments = std::make_shared<GroupArguments>();
    add_list(*group, arguments);
    add_describe(*group, arguments);
    add_lag(*group, arguments);
    add_reset(*group);
    add_delete(*group, arguments);
}

}  // namespace ringmain::cli
