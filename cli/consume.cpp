// `ringmain consume`: prints the records of a topic.
#include <memory>
#include <optional>
#include <string>

#include "commands.hpp"
#include "consume_job.hpp"
#include "context.hpp"
#include "errors.hpp"
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
    "SIGINT and SIGTERM end it with exit 0; the counts are printed on stderr.\n\n"
    "Examples:\n"
    "  ringmain consume trades -e\n"
    "  ringmain consume trades -o -10 -f '%p %o %T %k: %s\\n'\n"
    "  ringmain consume trades -o @2026-01-02T09:30:00Z --json | jq .payload\n"
    "  ringmain consume frames --gate archiver --json | gzip > frames.json.gz";

struct ConsumeArguments {
    std::string from = "earliest";
    std::string format = std::string(kDefaultFormat);
    std::uint32_t partition = 0;
    bool json = false;
    ConsumeOptions options;
};

void run_consume(const CLI::App& app, ConsumeArguments& arguments) {
    arguments.options.from = parse_position("-o", arguments.from);
    if (!arguments.json)
        arguments.options.format.emplace(arguments.format);
    const Broker broker = open_broker(app);
    catch_stop_signals();
    ConsumeJob job(broker, arguments.options);
    try {
        job.run();
    } catch (const CommandError&) {
        job.tell_counts();
        throw;
    }
    job.tell_counts();
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
    consume->add_option("-o,--offset", arguments->from, "Where to start")->type_name("POSITION");
    add_number(*consume, "-c,--count", options.records_max, {1, UINT64_MAX}, "Stop after so many records")
        ->type_name("COUNT");
    consume->add_flag("-e,--exit-at-end", options.stop_at_end, "Stop at the log end offsets seen at the start");
    CLI::Option* gate = consume->add_option("--gate", options.gate, "Hold producers back until records are printed");
    gate->type_name("NAME");
    CLI::Option* format = consume->add_option("-f,--format", arguments->format, "Format of a record (default '%s\\n')");
    format->type_name("FORMAT");
    consume->add_flag("--json", arguments->json, "Print JSON objects")->excludes(format);
    consume->footer(kFooter);
    consume->callback([consume, partition, gate, arguments] {
        if (gate->count() > 0 && arguments->options.gate.empty())
            throw UsageError("--gate: the name is empty");
        if (partition->count() > 0)
            arguments->options.partition = arguments->partition;
        run_consume(*consume, *arguments);
    });
}

}  // namespace ringmain::cli
