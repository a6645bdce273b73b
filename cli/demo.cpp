// `ringmain demo`: the story of the orders, and the main job on real input.
#include "demo.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
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
#include "numbers.hpp"
#include "options.hpp"
#include "orders.hpp"
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

constexpr const char* kOrders = "orders";
constexpr const char* kTelemetry = "telemetry";

/// What was given on the command line, whichever scenario it is for.
struct DemoArguments {
    std::string scenario;  ///< Empty: not given.
    demo::DemoOptions job;
    std::optional<std::uint64_t> seconds;
    orders::Defect defect = orders::Defect::none;

    /// The main job on real input.
    [[nodiscard]] bool is_job() const { return scenario == kTelemetry || (scenario.empty() && job.input.has_value()); }
};

orders::Defect defect_of(const std::string& name) {
    if (name == "skip")
        return orders::Defect::skip;
    if (name == "repeat")
        return orders::Defect::repeat;
    if (name == "swap")
        return orders::Defect::swap;
    if (name == "forget")
        return orders::Defect::forget;
    throw UsageError(fmt::format("--plant: '{}' is none of skip, repeat, swap, forget", name));
}

void check(const DemoArguments& arguments) {
    const demo::DemoOptions& job = arguments.job;
    if (!arguments.scenario.empty() && arguments.scenario != kOrders && arguments.scenario != kTelemetry)
        throw UsageError(fmt::format("demo: '{}' is neither {} nor {}", arguments.scenario, kOrders, kTelemetry));
    if (job.input.has_value() != !job.key_column.empty())
        throw UsageError("--input FILE and --key-column NAME belong together");
    if (!job.value_column.empty() && !job.input)
        throw UsageError("--value-column: there is no --input FILE");
    if (job.input && !arguments.is_job())
        throw UsageError("--input: the orders are made up; leave the word orders away");
    if (arguments.defect != orders::Defect::none && arguments.is_job())
        throw UsageError("--plant: only the orders have a defect to plant");
    if (!arguments.is_job() && arguments.seconds &&
        (*arguments.seconds < orders::kSecondsMin || *arguments.seconds > orders::kSecondsMax)) {
        throw UsageError(fmt::format("--seconds: {} is outside {}..{} of the orders", *arguments.seconds,
                                     orders::kSecondsMin, orders::kSecondsMax));
    }
}

bool run_scenario(const DemoArguments& arguments, const std::optional<std::filesystem::path>& directory) {
    if (arguments.is_job()) {
        demo::DemoOptions options = arguments.job;
        options.directory = directory;
        options.seconds = arguments.seconds.value_or(options.seconds);
        return demo::run_demo(options);
    }
    orders::OrdersOptions options;
    options.directory = directory;
    options.seconds = arguments.seconds.value_or(options.seconds);
    options.producers = arguments.job.producers;
    options.defect = arguments.defect;
    options.json = arguments.job.json;
    return orders::run_orders(options);
}

void run(CLI::App& app, const DemoArguments& arguments) {
    check(arguments);
    std::optional<std::filesystem::path> directory;
    if (app.get_parent()->get_option("--directory")->count() != 0 || std::getenv("RINGMAIN_DIR") != nullptr)
        directory = broker_directory(app);
    if (!run_scenario(arguments, directory))
        throw Exit{kExitFailed};
}

void add_input_options(CLI::App& command, demo::DemoOptions& job) {
    command
        .add_option_function<std::string>(
            "--input", [&job](const std::string& path) { job.input = path; },
            "A CSV file (RFC 4180) instead of the machine's own telemetry")
        ->type_name("FILE");
    command.add_option("--key-column", job.key_column, "The column whose text is the record's key")->type_name("NAME");
    command
        .add_option("--value-column", job.value_column,
                    "The column that the summary is about; otherwise the first one that holds a number")
        ->type_name("NAME");
}

}  // namespace

void add_demo(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("demo", "Play a story of producers, consumers, a kill and a stop, and count every record");
    const auto arguments = std::make_shared<DemoArguments>();
    command
        ->add_option(
            "SCENARIO", arguments->scenario,
            "orders (default): consumer groups and a work queue share the work on orders, a member and a worker are killed, one "
            "member is stopped, and one order fails until it is mended. "
            "telemetry: live and late readers of everything in /proc, or of a CSV file, and a killed producer")
        ->type_name("");
    command->add_option_function<std::string>(
        "--seconds",
        [arguments](const std::string& text) {
            arguments->seconds = parse_number("--seconds", text, {demo::kSecondsMin, demo::kSecondsMax});
        },
        "How long it publishes (orders 8, telemetry 12)");
    add_number(*command, "--producers", arguments->job.producers, {1, demo::kProducersMax}, "Producer processes (3)");
    add_input_options(*command, arguments->job);
    command
        ->add_option_function<std::string>(
            "--plant", [arguments](const std::string& name) { arguments->defect = defect_of(name); },
            "Orders: let a member do one thing wrong, to see that it is noticed: skip, repeat or swap events, or forget a "
            "label")
        ->type_name("DEFECT");
    command->add_flag("--json", arguments->job.json, "Print the final table as one object; progress goes to stderr");
    command->footer(
        "Works in a broker directory of its own inside -d DIR (otherwise /dev/shm) and removes it. Needs about 40 MiB "
        "there.\n"
        "Exit 0 only if every count is right.\n\n"
        "Examples:\n"
        "  ringmain demo\n"
        "  ringmain demo telemetry\n"
        "  ringmain demo --input flights.csv --key-column origin --seconds 5");
    command->callback([command, arguments] { run(*command, *arguments); });
}

}  // namespace ringmain::cli
