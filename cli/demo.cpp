// `ringmain demo`: the main job on real input.
#include "demo.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "demo_board.hpp"
#include "demo_checks.hpp"
#include "demo_directory.hpp"
#include "demo_narrator.hpp"
#include "demo_plan.hpp"
#include "demo_report.hpp"
#include "demo_stage.hpp"
#include "errors.hpp"
#include "options.hpp"
#include "output.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace demo {

namespace {

constexpr const char* kDefaultParent = "/dev/shm";

StageFacts play(Plan& plan, Board& board, std::FILE* stream) {
    const PrivateDirectory directory(plan.options.directory.value_or(kDefaultParent));
    plan.broker = directory.broker();
    Narrator narrator(stream);
    return Stage(plan, board, narrator).run();
}

}  // namespace

bool run_demo(const DemoOptions& options) {
    catch_stop_signals();
    Plan plan = make_plan(options);
    const BoardPointer board = make_board();
    const StageFacts facts = play(plan, *board, options.json ? stderr : stdout);
    const std::vector<Check> checks = check_counts(plan, *board, facts);
    const RunResult result{plan, *board, facts, checks};
    print(options.json ? report_to_json(result) : report_to_text(result));
    for (const Check& check : checks) {
        if (!check.good)
            note("demo: wrong count: {}: {}", check.name, check.detail);
    }
    return result.good();
}

}  // namespace demo

namespace {

void run(CLI::App& app, demo::DemoOptions options) {
    if (options.input.has_value() != !options.key_column.empty()) {
        throw UsageError("--input FILE and --key-column NAME belong together");
    }
    if (!options.value_column.empty() && !options.input)
        throw UsageError("--value-column: there is no --input FILE");
    const bool directory_given =
        app.get_parent()->get_option("--directory")->count() != 0 || std::getenv("RINGMAIN_DIR") != nullptr;
    if (directory_given)
        options.directory = broker_directory(app);
    if (!demo::run_demo(options))
        throw Exit{kExitFailed};
}

}  // namespace

void add_demo(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "demo", "Run producers, consumers and a killed producer on real input, and count every record");
    const auto options = std::make_shared<demo::DemoOptions>();
    add_number(*command, "--seconds", options->seconds, {demo::kSecondsMin, demo::kSecondsMax},
               "How long it publishes (12)");
    add_number(*command, "--producers", options->producers, {1, demo::kProducersMax}, "Producer processes (3)");
    command
        ->add_option_function<std::string>(
            "--input", [options](const std::string& path) { options->input = path; },
            "A CSV file (RFC 4180) instead of the machine's own telemetry")
        ->type_name("FILE");
    command->add_option("--key-column", options->key_column, "The column whose text is the record's key")
        ->type_name("NAME");
    command
        ->add_option("--value-column", options->value_column,
                     "The column that the summary is about; otherwise the first one that holds a number")
        ->type_name("NAME");
    command->add_flag("--json", options->json, "Print the final table as one object; progress goes to stderr");
    command->footer(
        "Works in a broker directory of its own inside -d DIR (otherwise /dev/shm) and removes it. Needs about 40 MiB "
        "there.\n"
        "Exit 0 only if every count is right.\n\n"
        "Examples:\n"
        "  ringmain demo\n"
        "  ringmain demo --input flights.csv --key-column origin --seconds 5");
    command->callback([command, options] { run(*command, *options); });
}

}  // namespace ringmain::cli
