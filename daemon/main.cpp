// ringmaind: keeps one broker directory until it is told to stop.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>

#include "check_report.hpp"
#include "cli/standard_streams.hpp"
#include "command_line.hpp"
#include "daemon.hpp"
#include "ringmain/truncation.hpp"

namespace {

using namespace ringmain::daemon;

constexpr int kExitGood = 0;
constexpr int kExitFailed = 1;

/// Problems begin with their place in the file, so that editors find it.
int check(const CommandLine& line) {
    const LoadedConfiguration loaded = ConfigurationSource(line.file, line.flags).load();
    for (const ConfigurationProblem& problem : loaded.problems)
        std::fprintf(stderr, "%s\n", to_string(problem).c_str());
    return loaded.configuration && print_check_report(*loaded.configuration) ? kExitGood : kExitFailed;
}

int run(const CommandLine& line) {
    const ConfigurationSource source(line.file, line.flags);
    const LoadedConfiguration loaded = source.load();
    Log log(STDERR_FILENO, loaded.configuration ? log_settings(*loaded.configuration) : log_settings(line.flags));
    log_problems(log, loaded.problems);
    if (!loaded.configuration)
        return kExitFailed;
    try {
        Signals signals;
        Daemon(signals, log, source, *loaded.configuration).run();
        return kExitGood;
    } catch (const std::exception& error) {
        log.write({.level = LogLevel::error, .event = "failed", .message = error.what(), .limited = false});
        return kExitFailed;
    }
}

}  // namespace

int main(int argc, char** argv) {
    ringmain::cli::occupy_closed_streams();
    std::signal(SIGPIPE, SIG_IGN);  // nobody who stops reading the log ends the daemon
    ringmain::survive_truncation();  // nor does anybody who truncates a file of a topic
    int exit_code = kExitGood;
    const auto line = parse_command_line(argc, argv, exit_code);
    if (!line)
        return exit_code;
    return line->check ? check(*line) : run(*line);
}
