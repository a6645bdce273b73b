// ringmaind: keeps one broker directory until it is told to stop.
#include <unistd.h>

#include <exception>
#include <utility>

#include "cli/standard_streams.hpp"
#include "command_line.hpp"
#include "daemon.hpp"

namespace {

using namespace ringmain::daemon;

constexpr int kExitGood = 0;
constexpr int kExitFailed = 1;

int run(const CommandLine& line) {
    const ConfigurationSource source(line.file, line.flags);
    const LoadedConfiguration loaded = source.load();
    Log log(STDERR_FILENO, loaded.configuration ? log_settings(*loaded.configuration) : Log::Settings{});
    for (const ConfigurationProblem& problem : loaded.problems)
        log.write({.level = LogLevel::error, .event = "configuration_refused", .message = to_string(problem), .limited = false});
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
    int exit_code = kExitGood;
    const auto line = parse_command_line(argc, argv, exit_code);
    return line ? run(*line) : exit_code;
}
