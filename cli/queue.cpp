// `ringmain queue list|describe|workers|delete`; create and reset have files of their own.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "each_topic.hpp"
#include "errors.hpp"
#include "group_commands.hpp"
#include "group_report.hpp"
#include "output.hpp"
#include "queue_commands.hpp"
#include "queue_report.hpp"
#include "queue_selection.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

struct QueueArguments {
    QueueSelection selection;
    bool force = false;
    bool json = false;
};

using Arguments = std::shared_ptr<QueueArguments>;

/// A damaged topic must not hide the others.
void run_list(const CLI::App& app, const QueueArguments& arguments) {
    const Broker broker = open_broker(app);
    QueueAdmin admin(broker);
    const std::string& topic = arguments.selection.topic;
    std::vector<QueueSummary> queues;
    const bool all = use_each(topic.empty() ? broker.list_topics() : std::vector<std::string>{topic}, !topic.empty(), [&](const std::string& name) {
        for (QueueSummary& queue : admin.list(name))
            queues.push_back(std::move(queue));
    });
    print(arguments.json ? queues_to_json(queues) + "\n" : queues_to_text(queues));
    if (!all)
        throw Exit{kExitFailed};
}

std::vector<QueueDescription> describe(const CLI::App& app, const QueueArguments& arguments) {
    const Broker broker = open_broker(app);
    QueueAdmin admin(broker);
    std::vector<QueueDescription> queues;
    for (const std::string& topic : topics_of(broker, arguments.selection))
        queues.push_back(admin.describe(topic, arguments.selection.queue));
    return queues;
}

void run_describe(const CLI::App& app, const QueueArguments& arguments) {
    const std::vector<QueueDescription> queues = describe(app, arguments);
    if (arguments.json)
        return print(queues_to_json(queues) + "\n");
    std::string text;
    for (const QueueDescription& queue : queues)
        text.append(text.empty() ? "" : "\n").append(queue_to_text(queue));
    print(text);
}

void run_workers(const CLI::App& app, const QueueArguments& arguments) {
    const std::vector<QueueDescription> queues = describe(app, arguments);
    print(arguments.json ? workers_to_json(queues) + "\n" : workers_to_text(queues));
}

/// What can be deleted is, also if the queue has workers in another topic.
void run_delete(const CLI::App& app, const QueueArguments& arguments) {
    hold_stop_signals();
    const Broker broker = open_broker(app);
    QueueAdmin admin(broker);
    delete_in_each(admin, topics_of(broker, arguments.selection), "queue", arguments.selection.queue, arguments.force);
}

void add_list(CLI::App& queue, const Arguments& arguments) {
    CLI::App* list = queue.add_subcommand("list", "List the work queues");
    list->add_option("-t,--topic", arguments->selection.topic, "Only those of this topic")->type_name("TOPIC");
    list->add_flag("--json", arguments->json, "Print an array of objects");
    list->footer(
        "LAG: records that are not known to be finished. LOST: those that retention took before they were finished.\n\n"
        "Examples:\n  ringmain queue list\n  ringmain queue list -t orders --json");
    list->callback([list, arguments] { run_list(*list, *arguments); });
}

void add_describe(CLI::App& queue, const Arguments& arguments) {
    CLI::App* describe = queue.add_subcommand("describe", "Show a queue's options, its records by state, and its workers");
    add_selection(*describe, arguments->selection);
    describe->add_flag("--json", arguments->json, "Print an array of objects");
    describe->footer(
        "AVAILABLE: to be had now; DELAYED: later, by back-off or delay; ACQUIRED: held by workers, LOCK-OVER of them for longer than\n"
        "their lock; ENDING: on their way to the dead letters, or waiting for room there; FINISHED: behind one that is not;\n"
        "BEYOND-WINDOW: to be had once the first of the window is finished. What is counted began with the queue, or with its reset.\n\n"
        "Examples:\n  ringmain queue describe mail\n  ringmain queue describe mail -t orders --json | jq '.[].partitions[].oldest'");
    describe->callback([describe, arguments] { run_describe(*describe, *arguments); });
}

void add_workers(CLI::App& queue, const Arguments& arguments) {
    CLI::App* workers = queue.add_subcommand("workers", "Show a queue's workers, what they hold and what they did");
    add_selection(*workers, arguments->selection);
    workers->add_flag("--json", arguments->json, "Print an array of objects");
    workers->footer(
        "IN-FLIGHT: records that it holds, MAX-IN-FLIGHT its own limit. REFUSED: answers that came after another worker had the record.\n\n"
        "Examples:\n  ringmain queue workers mail\n  ringmain queue workers mail --json | jq '.[] | select(.in_flight > 0)'");
    workers->callback([workers, arguments] { run_workers(*workers, *arguments); });
}

void add_delete(CLI::App& queue, const Arguments& arguments) {
    CLI::App* remove = queue.add_subcommand("delete", "Delete a queue; its topic and its dead letters stay");
    add_selection(*remove, arguments->selection);
    remove->add_flag("--force", arguments->force, "Also if it has workers; they find out at their next call");
    remove->footer("Examples:\n  ringmain queue delete mail -t orders\n  ringmain queue delete mail --force");
    remove->callback([remove, arguments] { run_delete(*remove, *arguments); });
}

}  // namespace

void add_queue(CLI::App& app) {
    CLI::App* queue = app.add_subcommand("queue", "Create, list, describe, reset, redrive and delete work queues; show their workers");
    queue->require_subcommand(1);
    queue->footer("Example:\n  ringmain queue create --help");
    const auto arguments = std::make_shared<QueueArguments>();
    add_queue_create(*queue);
    add_list(*queue, arguments);
    add_describe(*queue, arguments);
    add_workers(*queue, arguments);
    add_queue_reset(*queue);
    add_queue_redrive(*queue);
    add_delete(*queue, arguments);
}

}  // namespace ringmain::cli
