// `ringmain consume`: prints the records of a topic.
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>

#include "commands.hpp"
#include "consume_job.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "group_consume_job.hpp"
#include "options.hpp"
#include "positions.hpp"
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
    "SIGINT and SIGTERM end it with exit 0; the counts are printed on stderr.\n\n"
    "Examples:\n"
    "  ringmain consume trades -e\n"
    "  ringmain consume trades -o -10 -f '%p %o %T %k: %s\\n'\n"
    "  ringmain consume trades -o @2026-01-02T09:30:00Z --json | jq .payload\n"
    "  ringmain consume frames --gate archiver --json | gzip > frames.json.gz\n"
    "  ringmain consume trades -g billing --start latest";

struct ConsumeArguments {
    std::string from = "earliest";
    std::string format = std::string(kDefaultFormat);
    std::uint32_t partition = 0;
    bool json = false;
    GroupOptions group;
    std::string start = "earliest";
    std::string on_loss = std::string(to_string(OnLoss::error));
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
    if (arguments.options.group)
        run_job<GroupConsumeJob>(broker, arguments.options);
    else
        run_job<ConsumeJob>(broker, arguments.options);
}

/// What -g takes with it, and what it excludes.
CLI::Option* add_group_options(CLI::App& consume, ConsumeArguments& arguments) {
    CLI::Option* group = consume.add_option("-g,--group", arguments.group.name, "Read as a member of this consumer group, and commit");
    group->type_name("GROUP");
    consume.add_option("--start", arguments.start, "Where a new group begins: earliest, latest, an offset, @TIME")
        ->type_name("POSITION")
        ->needs(group);
    consume.add_option("--on-loss", arguments.on_loss, "When records of a new group are lost: error (default), earliest, latest")
        ->type_name("POLICY")
        ->needs(group);
    consume.add_flag("--gating", arguments.group.gating, "Producers of a topic that blocks wait for a new group")->needs(group);
    consume.add_option("--static-name", arguments.group.static_name, "Keep this member's share over a restart")
        ->type_name("NAME")
        ->needs(group);
    return group;
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
    group->excludes(partition)->excludes(from)->excludes(gate);
    consume->footer(kFooter);
    consume->callback([consume, partition, gate, group, arguments] {
        if (gate->count() > 0 && arguments->options.gate.empty())
            throw UsageError("--gate: the name is empty");
        if (partition->count() > 0)
            arguments->options.partition = arguments->partition;
        if (group->count() > 0)
            arguments->options.group = group_of(*arguments);
        run_consume(*consume, *arguments);
    });
}

}  // namespace ringmain::cli
