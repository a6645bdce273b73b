// `ringmain consume`: prints the records of a topic.
#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "commands.hpp"
#include "consume_job.hpp"
#include "context.hpp"
#include "durations.hpp"
#include "errors.hpp"
#include "group_consume_job.hpp"
#include "options.hpp"
#include "positions.hpp"
#include "queue_consume_job.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

constexpr const char* kFooter =
    "Positions (-o), for each partition:\n"
    "  earliest   the oldest record kept (default)\n"
    "  latest     only records published from now on\n"
    "  OFFSET     this offset; if it is gone, a gap is reported and reading starts at the oldest record kept;\n"
    "             beyond the end, reading waits until the log gets there (with -e it ends at once), and stderr says so\n"
    "  -N         the last N offsets, or all if there are fewer\n"
    "  @TIME      the first record not before TIME: milliseconds since the epoch, or ISO 8601: "
    "2026-01-02T03:04:05.678Z,\n"
    "             …+01:00, or without a zone in local time\n"
    "Format tokens (-f), as in kcat; no newline is added:\n"
    "  %t topic  %p partition  %o offset  %k key  %s payload  %T timestamp in ms  %h headers (name=value,…)\n"
    "  %K key bytes  %S payload bytes (-1: null)  %% percent sign  \\n \\t \\r \\0 \\\\ \\xNN\n"
    "--json prints one object a line: topic, partition, offset, ts (ms), ts_ns, key, payload, and headers as an array "
    "of\n"
    "{name, value}. null stays null; bytes that are not UTF-8 come as key_base64, payload_base64, value_base64.\n"
    "Records lost before they could be read are reported on stderr as 'gap: TOPIC[P] FROM..TO COUNT records REASON'.\n"
    "--gate NAME, on a topic created with --when-full block: producers wait rather than overwrite what this command has\n"
    "not yet written to its output. The gate begins at the positions of -o, moves after each write, and goes with the\n"
    "process, however that ends.\n"
    "-g GROUP: as a member of a consumer group, which shares the partitions among its members. What is printed is then "
    "committed;\nwho joins later goes on there. -p, -o and --gate do not go with it. --start, --on-loss and --gating count for "
    "whoever\nnames the group first. With -e it ends when its partitions are read up to the log ends seen at the start. "
    "--static-name keeps\nits share over a restart.\n"
    "-q QUEUE: as a worker of a work queue, which hands each record to one worker for a lock time. With --ack auto (default) a record "
    "is\nfinished once it is printed. With --ack manual each line of standard input answers for one (see \"lock\" in --json), and what "
    "is\nheld when the input ends is given back:\n"
    "  ack P:OFFSET | nack P:OFFSET [DELAY] | release P:OFFSET | reject P:OFFSET [WHY] | renew P:OFFSET [TIME]\n"
    "A queue that does not exist is created; --start, --lock-time and --delivery-limit say how. With -e it ends when nothing is "
    "available.\n"
    "SIGINT and SIGTERM end it with exit 0; the counts are printed on stderr.\n\n"
    "Examples:\n"
    "  ringmain consume trades -e\n"
    "  ringmain consume trades -o -10 -f '%p %o %T %k: %s\\n'\n"
    "  ringmain consume trades -o @2026-01-02T09:30:00Z --json | jq .payload\n"
    "  ringmain consume frames --gate archiver --json | gzip > frames.json.gz\n"
    "  ringmain consume trades -g billing --start latest\n"
    "  ringmain consume jobs -q thumbnails --json";

struct ConsumeArguments {
    std::string from = "earliest";
    std::string format = std::string(kDefaultFormat);
    std::uint32_t partition = 0;
    bool json = false;
    GroupOptions group;
    std::string start = "earliest";
    std::string on_loss = std::string(to_string(OnLoss::error));
    QueueConsumeOptions queue;
    std::string ack = "auto";
    std::string lock_time = "30s";
    ConsumeOptions options;
};

OnLoss parse_on_loss(const std::string& text) {
    for (const OnLoss policy : {OnLoss::error, OnLoss::earliest, OnLoss::latest}) {
        if (to_string(policy) == text)
            return policy;
    }
    throw UsageError(fmt::format("--on-loss: '{}' is none of error, earliest and latest", text));
}

GroupOptions group_of(const ConsumeArguments& arguments) {
    GroupOptions group = arguments.group;
    group.start = parse_position("--start", arguments.start);
    if (group.start.kind == Position::Kind::last)
        throw UsageError(fmt::format("--start: '{}' is none of earliest, latest, an offset and @TIME", arguments.start));
    group.on_loss = parse_on_loss(arguments.on_loss);
    return group;
}

QueueConsumeOptions queue_of(const ConsumeArguments& arguments) {
    QueueConsumeOptions queue = arguments.queue;
    queue.create.start = parse_position("--start", arguments.start);
    const auto lock_time = parse_duration(arguments.lock_time);
    if (!lock_time)
        throw UsageError(fmt::format("--lock-time: '{}' is no duration such as 500ms, 30s or 5m", arguments.lock_time));
    queue.create.lock_time = std::chrono::duration_cast<std::chrono::milliseconds>(*lock_time);
    queue.manual = arguments.ack == "manual";
    if (!queue.manual && arguments.ack != "auto")
        throw UsageError(fmt::format("--ack: '{}' is none of auto and manual", arguments.ack));
    return queue;
}

/// The counts are told in any case.
template <class Job>
void run_job(const Broker& broker, const ConsumeOptions& options) {
    Job job(broker, options);
    try {
        job.run();
    } catch (const CommandError&) {
        job.tell_counts();
        throw;
    }
    job.tell_counts();
}

void run_consume(const CLI::App& app, ConsumeArguments& arguments) {
    arguments.options.from = parse_position("-o", arguments.from);
    if (!arguments.json)
        arguments.options.format.emplace(arguments.format);
    const Broker broker = open_broker(app);
    catch_stop_signals();
    if (arguments.options.queue)
        run_job<QueueConsumeJob>(broker, arguments.options);
    else if (arguments.options.group)
        run_job<GroupConsumeJob>(broker, arguments.options);
    else
        run_job<ConsumeJob>(broker, arguments.options);
}

/// What -g takes with it, and what it excludes.
CLI::Option* add_group_options(CLI::App& consume, ConsumeArguments& arguments) {
    CLI::Option* group = consume.add_option("-g,--group", arguments.group.name, "Read as a member of this consumer group, and commit");
    group->type_name("GROUP");
    consume.add_option("--on-loss", arguments.on_loss, "When records of a new group are lost: error (default), earliest, latest")
        ->type_name("POLICY")
        ->needs(group);
    consume.add_flag("--gating", arguments.group.gating, "Producers of a topic that blocks wait for a new group")->needs(group);
    consume.add_option("--static-name", arguments.group.static_name, "Keep this member's share over a restart")
        ->type_name("NAME")
        ->needs(group);
    return group;
}

/// What -q takes with it.
CLI::Option* add_queue_options(CLI::App& consume, ConsumeArguments& arguments) {
    CLI::Option* queue = consume.add_option("-q,--queue", arguments.queue.queue, "Acquire as a worker of this work queue");
    queue->type_name("QUEUE");
    consume.add_option("--ack", arguments.ack, "When a record is finished: auto (printed, default) or manual (answers on stdin)")
        ->type_name("WHEN")
        ->needs(queue);
    consume.add_option("--lock-time", arguments.lock_time, "Of a new queue: how long a worker has a record (default 30s)")
        ->type_name("TIME")
        ->needs(queue);
    add_number(consume, "--delivery-limit", arguments.queue.create.delivery_limit, {0, kDeliveryLimitMax},
               "Of a new queue: deliveries before a record goes to the dead letters (default 5; 0: no limit)")
        ->type_name("COUNT")
        ->needs(queue);
    add_number(consume, "--max-in-flight", arguments.queue.max_in_flight, {1, kWorkerInFlightMax}, "Records held at a time (default 1000)")
        ->type_name("COUNT")
        ->needs(queue);
    return queue;
}

}  // namespace

void add_consume(CLI::App& app) {
    CLI::App* consume = app.add_subcommand("consume", "Print the records of a topic, then wait for more");
    const auto arguments = std::make_shared<ConsumeArguments>();
    ConsumeOptions& options = arguments->options;
    consume->add_option("TOPIC", options.topic, "The topic; it is never created here")->required();
    CLI::Option* partition =
        add_number(*consume, "-p,--partition", arguments->partition, {0, kPartitionsMax - 1}, "Only this partition");
    partition->type_name("P");
    CLI::Option* from = consume->add_option("-o,--offset", arguments->from, "Where to start");
    from->type_name("POSITION");
    add_number(*consume, "-c,--count", options.records_max, {1, UINT64_MAX}, "Stop after so many records")
        ->type_name("COUNT");
    consume->add_flag("-e,--exit-at-end", options.stop_at_end, "Stop at the log end offsets seen at the start");
    CLI::Option* gate = consume->add_option("--gate", options.gate, "Hold producers back until records are printed");
    gate->type_name("NAME");
    CLI::Option* format = consume->add_option("-f,--format", arguments->format, "Format of a record (default '%s\\n')");
    format->type_name("FORMAT");
    consume->add_flag("--json", arguments->json, "Print JSON objects")->excludes(format);
    CLI::Option* group = add_group_options(*consume, *arguments);
    CLI::Option* queue = add_queue_options(*consume, *arguments);
    for (CLI::Option* one : {group, queue})
        one->excludes(partition)->excludes(from)->excludes(gate);
    queue->excludes(group);
    CLI::Option* start = consume->add_option("--start", arguments->start, "Where a new group or queue begins: earliest, latest, an offset, @TIME");
    start->type_name("POSITION");
    consume->footer(kFooter);
    consume->callback([consume, partition, gate, group, queue, start, arguments] {
        if (gate->count() > 0 && arguments->options.gate.empty())
            throw UsageError("--gate: the name is empty");
        if (partition->count() > 0)
            arguments->options.partition = arguments->partition;
        if (start->count() > 0 && group->count() == 0 && queue->count() == 0)
            throw UsageError("--start goes with -g or -q; see -o");
        if (group->count() > 0)
            arguments->options.group = group_of(*arguments);
        if (queue->count() > 0) {
            arguments->options.queue = queue_of(*arguments);
            arguments->options.queue->created_as_asked =
                start->count() + consume->count("--lock-time") + consume->count("--delivery-limit") > 0;
        }
        run_consume(*consume, *arguments);
    });
}

}  // namespace ringmain::cli
