// `ringmain dlq list|show|replay|purge|relink`: dead letters.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "dlq_report.hpp"
#include "each_topic.hpp"
#include "errors.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "queue_commands.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/queue_admin.hpp"
#include "signals.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

constexpr const char* kFooter =
    "TOPIC is a dead-letter topic, or one whose dead letters are meant: then only letters of its records.\n";

struct DlqArguments {
    std::string topic;
    LetterFilter filter;
    std::string to;
    std::uint64_t count = 0;
    bool queue_needed = false;  ///< The filter's group is a queue's name that nobody should mistype.
    bool dry_run = false;
    bool yes = false;
    bool json = false;
};

using Arguments = std::shared_ptr<DlqArguments>;

/// The dead-letter topics that TOPIC means; the filter then says whose letters.
std::vector<std::string> topics_of(DeadLetters& letters, const DlqArguments& arguments, LetterFilter& filter) {
    filter = arguments.filter;
    std::vector<std::string> topics = letters.topics_of(arguments.topic);
    if (topics.empty() && !arguments.topic.empty())
        throw CommandError(
            fmt::format("topic '{}' has no dead letters: there is no topic that they would go to", arguments.topic));
    const bool itself = topics.size() == 1 && topics.front() == arguments.topic;
    if (!itself && !arguments.topic.empty())
        filter.topic = arguments.topic;
    return topics;
}

/// A damaged topic must not hide the others.
void run_list(const CLI::App& app, const DlqArguments& arguments) {
    DeadLetters letters(open_broker(app));
    LetterFilter filter;
    std::vector<DeadLetterSummary> summaries;
    const bool all = use_each(topics_of(letters, arguments, filter), !arguments.topic.empty(),
                              [&](const std::string& topic) { summaries.push_back(letters.summarize(topic)); });
    print(arguments.json ? letters_to_json(summaries) + "\n" : letters_to_text(summaries));
    if (!all)
        throw Exit{kExitFailed};
}

void run_show(const CLI::App& app, const DlqArguments& arguments) {
    DeadLetters letters(open_broker(app));
    LetterFilter filter;
    std::uint64_t left = arguments.count == 0 ? UINT64_MAX : arguments.count;
    Output output;
    Table table = letter_table();
    for (const std::string& topic : topics_of(letters, arguments, filter)) {
        letters.read(topic, filter, [&](const ConsumerRecord& record, const DecodedLetter& decoded) {
            if (left == 0)
                return false;
            --left;
            if (arguments.json) {
                output.buffer().append(letter_to_json(record, decoded)).append("\n");
                output.spill();
            } else {
                add_letter(table, record, decoded);
            }
            return true;
        });
    }
    if (!arguments.json)
        output.buffer().append(table.text());
    output.flush();
}

/// A name that was mistyped must not look like a queue that has no dead letters. Letters outlive their queue.
void check_queue(const Broker& broker, const std::string& topic, const std::string& queue) {
    const std::vector<QueueSummary> queues = QueueAdmin(broker).list(topic);
    if (std::none_of(queues.begin(), queues.end(), [&](const QueueSummary& one) { return one.name == queue; }))
        throw CommandError(fmt::format("topic '{}' has no queue '{}', and no dead letters of one", topic, printable(queue)));
}

void run_replay(const CLI::App& app, const DlqArguments& arguments) {
    catch_stop_signals();
    const Broker broker = open_broker(app);
    DeadLetters letters(broker);
    LetterFilter filter;
    bool all = true;
    std::uint64_t matched = 0;
    for (const std::string& topic : topics_of(letters, arguments, filter)) {
        const LettersReplayed done = letters.replay(
            topic, filter, {.to = arguments.to, .dry_run = arguments.dry_run, .stop = [] { return stop_requested(); }});
        print(arguments.json ? replayed_to_json(topic, done, arguments.dry_run) + "\n"
                             : replayed_to_text(topic, done, arguments.dry_run));
        if (!done.why.empty())
            note("{}", done.why);
        matched += done.matched;
        all = all && !done.stopped && kept(done) == 0;
    }
    if (arguments.queue_needed && matched == 0)
        check_queue(broker, arguments.topic, *arguments.filter.group);
    if (!all)
        throw Exit{kExitFailed};
}

void run_purge(const CLI::App& app, const DlqArguments& arguments) {
    catch_stop_signals();
    DeadLetters letters(open_broker(app));
    LetterFilter filter;
    const bool dry_run = arguments.dry_run || !arguments.yes;
    bool all = true;
    for (const std::string& topic : topics_of(letters, arguments, filter)) {
        const LettersPurged done = letters.purge(topic, filter, dry_run, [] { return stop_requested(); });
        print(arguments.json ? purged_to_json(topic, done, dry_run) + "\n" : purged_to_text(topic, done, dry_run));
        all = all && !done.stopped;
    }
    if (!arguments.dry_run && !arguments.yes)
        note("nothing was purged; --yes does it");
    if (!all)
        throw Exit{kExitFailed};
}

void run_relink(const CLI::App& app, const DlqArguments& arguments) {
    DeadLetters letters(open_broker(app));
    const std::string& group = *arguments.filter.group;
    const bool linked = letters.relink(arguments.topic, group);
    print(fmt::format("'{}' of topic '{}' {}\n", printable(group), arguments.topic,
                      linked ? "sends its dead letters to the new topic" : "is linked to its dead-letter topic already"));
}

DeadLetterReason parse_reason(const std::string& text) {
    for (const auto reason : {DeadLetterReason::limit, DeadLetterReason::rejected, DeadLetterReason::expired,
                              DeadLetterReason::worker_died}) {
        if (to_string(reason) == text)
            return reason;
    }
    throw UsageError(fmt::format("--reason: '{}' is none of limit, rejected, expired and worker-died", text));
}

template <class Take>
void add_text(CLI::App& command, const std::string& name, const std::string& type, const std::string& help,
              const Take& take) {
    command.add_option_function<std::string>(name, take, help)->type_name(type);
}

void add_filter(CLI::App& command, const Arguments& arguments) {
    LetterFilter& filter = arguments->filter;
    add_text(command, "-g,--group", "GROUP", "Only letters of this group or queue",
             [&filter](const std::string& text) { filter.group = text; });
    add_text(command, "--error", "TEXT", "Only those whose first or last error contains this",
             [&filter](const std::string& text) { filter.error = text; });
    add_text(command, "--reason", "REASON", "Only these: limit, rejected, expired, worker-died",
             [&filter](const std::string& text) { filter.reason = parse_reason(text); });
    add_text(command, "--since", "TIME", "Only letters written then or later",
             [&filter](const std::string& text) { filter.since_ns = parse_time_ns("--since", text); });
    add_text(command, "--until", "TIME", "Only letters written before that",
             [&filter](const std::string& text) { filter.until_ns = parse_time_ns("--until", text); });
    add_text(command, "-k,--key", "KEY", "Only records with exactly this key",
             [&filter](const std::string& text) { filter.key = text; });
    add_text(command, "-p,--partition", "P", "Only this partition of the dead-letter topic",
             [&filter](const std::string& text) {
                 filter.partition = static_cast<std::uint32_t>(parse_number("-p", text, {0, kPartitionsMax - 1}));
             });
    add_text(command, "-o,--offset", "OFFSET", "Only the letter at this offset of the dead-letter topic",
             [&filter](const std::string& text) {
                 filter.offset = parse_number("-o", text, {0, kOffsetMax});
             });
}

CLI::App* add_command(CLI::App& dlq, const std::string& name, const std::string& help, const Arguments& arguments,
                      bool needs_topic) {
    CLI::App* command = dlq.add_subcommand(name, help);
    CLI::Option* topic =
        command->add_option("TOPIC", arguments->topic, "The dead-letter topic, or the one whose letters are meant");
    if (needs_topic)
        topic->required();
    return command;
}

void add_list(CLI::App& dlq) {
    const auto arguments = std::make_shared<DlqArguments>();
    CLI::App* list =
        add_command(dlq, "list", "Show how many dead letters there are, by topic and group", arguments, false);
    list->add_flag("--json", arguments->json, "Print an array of objects, one per dead-letter topic");
    list->footer(std::string(kFooter) +
                 "Without it: all. Letters that were replayed or purged are not counted. LIMIT: the last delivery "
                 "failed; REJECTED: the "
                 "handler said that\nit never can; EXPIRED: its time to live was over; DIED: the last delivery was "
                 "never answered.\n\n"
                 "Examples:\n  ringmain dlq list\n  ringmain dlq list orders --json | jq '.[].letters'");
    list->callback([list, arguments] { run_list(*list, *arguments); });
}

void add_show(CLI::App& dlq) {
    const auto arguments = std::make_shared<DlqArguments>();
    CLI::App* show = add_command(dlq, "show", "Show dead letters", arguments, true);
    add_filter(*show, arguments);
    add_number(*show, "-c,--count", arguments->count, {1, UINT64_MAX}, "At most so many")->type_name("N");
    show->add_flag("--json", arguments->json, "Print an object a line: the record, and what its letter says");
    show->footer(std::string(kFooter) +
                 "FROM is where the record was: TOPIC/PARTITION/OFFSET. Times: see `ringmain consume --help`.\n\n"
                 "Examples:\n  ringmain dlq show orders\n  ringmain dlq show orders --error 'no account' --json\n"
                 "  ringmain dlq show orders.dlq -p 0 -o 17 --json");
    show->callback([show, arguments] { run_show(*show, *arguments); });
}

void add_replay(CLI::App& dlq) {
    const auto arguments = std::make_shared<DlqArguments>();
    CLI::App* replay = add_command(dlq, "replay", "Publish dead letters once more, each exactly once", arguments, true);
    add_filter(*replay, arguments);
    replay->add_option("--to", arguments->to, "Publish them to this topic, by key, rather than where they came from")
        ->type_name("TOPIC");
    replay->add_flag("--dry-run", arguments->dry_run, "Only show what would be done");
    replay->add_flag("--json", arguments->json, "Print an object for each dead-letter topic");
    replay->footer(std::string(kFooter) +
                   "A letter that was replayed is one no longer. Its attempts begin anew; the header "
                   "ringmain-replayed-from says where its "
                   "record was.\nInterrupt it at any time, and run it again: no letter is lost or replayed twice. Exit "
                   "1 if some that were "
                   "meant stay.\n\n"
                   "Examples:\n  ringmain dlq replay orders --group billing\n  ringmain dlq replay orders --error "
                   "time-out --dry-run\n"
                   "  ringmain dlq replay orders --to orders-repaired --since 2026-01-02");
    replay->callback([replay, arguments] { run_replay(*replay, *arguments); });
}

void add_purge(CLI::App& dlq) {
    const auto arguments = std::make_shared<DlqArguments>();
    CLI::App* purge = add_command(dlq, "purge", "Drop dead letters for ever", arguments, true);
    add_filter(*purge, arguments);
    purge->add_flag("--yes", arguments->yes, "Do it, rather than show how many there are");
    purge->add_flag("--dry-run", arguments->dry_run, "Only show how many there are, also with --yes");
    purge->add_flag("--json", arguments->json, "Print an object for each dead-letter topic");
    purge->footer(std::string(kFooter) +
                  "\nExamples:\n  ringmain dlq purge orders\n  ringmain dlq purge orders --reason expired --until "
                  "2026-01-02 --yes");
    purge->callback([purge, arguments] { run_purge(*purge, *arguments); });
}

void add_relink(CLI::App& dlq) {
    const auto arguments = std::make_shared<DlqArguments>();
    CLI::App* relink = dlq.add_subcommand("relink", "Link a queue or group to its dead-letter topic that was deleted and made anew");
    relink->add_option("TOPIC", arguments->topic, "The topic of the queue or group")->required();
    add_text(*relink, "-g,--group", "GROUP", "The queue, or the group with retries",
             [arguments](const std::string& text) { arguments->filter.group = text; });
    relink->get_option("--group")->required();
    relink->footer(
        "The dead-letter topic is created if it is not there. Records that wait for their letter keep their attempts and their place.\n"
        "The workers or members end before, and begin anew after it.\n\n"
        "Examples:\n  ringmain dlq relink orders --group billing");
    relink->callback([relink, arguments] { run_relink(*relink, *arguments); });
}

}  // namespace

void add_queue_redrive(CLI::App& queue) {
    const auto arguments = std::make_shared<DlqArguments>();
    arguments->queue_needed = true;
    CLI::App* redrive = queue.add_subcommand("redrive", "Publish a queue's dead letters once more, each exactly once");
    redrive->add_option_function<std::string>(
               "QUEUE", [arguments](const std::string& name) { arguments->filter.group = name; }, "The queue that gave them up")
        ->required();
    redrive->add_option("-t,--topic", arguments->topic, "Its topic")->type_name("TOPIC")->required();
    redrive->add_option("--to", arguments->to, "Publish them to this topic, by key, rather than where they came from")->type_name("TOPIC");
    redrive->add_flag("--dry-run", arguments->dry_run, "Only show what would be done");
    redrive->add_flag("--json", arguments->json, "Print an object for each dead-letter topic");
    redrive->footer(
        "The same as 'ringmain dlq replay TOPIC --group QUEUE', which can also choose by error, reason, time and key.\n\n"
        "Examples:\n  ringmain queue redrive thumbnails -t jobs --dry-run\n  ringmain queue redrive thumbnails -t jobs");
    redrive->callback([redrive, arguments] { run_replay(*redrive, *arguments); });
}

void add_dlq(CLI::App& app) {
    CLI::App* dlq = app.add_subcommand("dlq", "List, show, replay and purge dead letters; link their senders anew");
    dlq->require_subcommand(1);
    dlq->footer("Example:\n  ringmain dlq replay --help");
    add_list(*dlq);
    add_show(*dlq);
    add_replay(*dlq);
    add_purge(*dlq);
    add_relink(*dlq);
}

}  // namespace ringmain::cli
