// The command `ringmain`: topics, records and health of a broker, from a shell.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "group_report.hpp"
#include "output.hpp"
#include "ringmain/truncation.hpp"
#include "signals.hpp"
#include "standard_streams.hpp"

namespace ringmain::cli {

namespace {

void add_commands(CLI::App& app) {
    app.fallthrough();  // -d may also follow the subcommand; inherited by the subcommands, so before they are added
    app.set_version_flag("--version", "ringmain " RINGMAIN_VERSION);
    add_directory_option(app);
    app.require_subcommand(1);
    app.footer(
        "Exit: 0 good, 1 failed, 2 the command line is wrong. 'ringmain COMMAND --help' shows the options of a "
        "command.\n\n"
        "Examples:\n"
        "  ringmain topic create trades --partitions 3\n"
        "  echo 'MSFT,421.5' | ringmain produce trades -K ,\n"
        "  ringmain consume trades -e -f '%p %o %k %s\\n'");
    add_topic(app);
    add_produce(app);
    add_consume(app);
    add_group(app);
    add_queue(app);
    add_dlq(app);
    add_who_blocks(app);
    add_stats(app);
    add_top(app);
    add_doctor(app);
    add_verify(app);
    add_dump(app);
    add_demo(app);
    add_perf(app);
}

/// "ringmain topic create" for the innermost subcommand that was given.
std::string command_path(const CLI::App& app) {
    const CLI::App* innermost = &app;
    std::string path = app.get_name();
    while (!innermost->get_subcommands().empty()) {
        innermost = innermost->get_subcommands().front();
        path.append(" ").append(innermost->get_name());
    }
    return path;
}

/// The arguments that nothing took, as they were given: CLI11 lists them in an order of its own.
std::vector<std::string> unknown_arguments(const CLI::App& app, int argc, char** argv) {
    std::vector<std::string> left = app.remaining(true);
    std::vector<std::string> unknown;
    for (int i = 1; i < argc; ++i) {
        const auto found = std::find(left.begin(), left.end(), argv[i]);
        if (found == left.end())
            continue;
        unknown.push_back(*found);
        left.erase(found);
    }
    return unknown;
}

/// CLI11 only says that a command is missing if the one that was given is unknown.
std::string explain(const CLI::ParseError& error, const std::vector<std::string>& unknown) {
    if (unknown.empty())
        return error.what();
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
        return fmt::format("'{}' is no command or option here: {}", unknown.front(), error.what());
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
        return fmt::format("not expected here: {}", fmt::join(unknown, " "));
    return error.what();
}

int fail_usage(const CLI::App& app, const std::string& what) {
    note("{}\nTry '{} --help'.", what, command_path(app));
    return kExitUsage;
}

int run(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
        return kExitGood;
    } catch (const CLI::Success& help_or_version) {
        if (const std::vector<std::string> unknown = unknown_arguments(app, argc, argv); !unknown.empty())
            return fail_usage(app, fmt::format("'{}' is no command or option here", unknown.front()));
        return app.exit(help_or_version);
    } catch (const CLI::ParseError& error) {
        return fail_usage(app, explain(error, unknown_arguments(app, argc, argv)));
    } catch (const UsageError& error) {
        return fail_usage(app, error.what());
    } catch (const Exit& exit) {
        return exit.code;
    } catch (const std::exception& error) {
        note("{}", printable(error.what()));  // one line: a name in it may have a newline
        return kExitFailed;
    }
}

}  // namespace

}  // namespace ringmain::cli

int main(int argc, char** argv) {
    using namespace ringmain::cli;
    occupy_closed_streams();
    ignore_broken_pipes();
    ringmain::survive_truncation();
    CLI::App app("Topics in shared memory: create, produce, consume, verify.", "ringmain");
    add_commands(app);
    if (argc == 1) {
        note("a command is missing\n{}", app.help());
        return kExitUsage;
    }
    return run(app, argc, argv);
}
