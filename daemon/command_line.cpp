// The flags of ringmaind.
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>

namespace ringmain::daemon {

namespace {

constexpr int kExitUsage = 2;

constexpr const char* kDescription =
    "Keeps a Ringmain broker directory: reaps dead producers and gates, closes tickets that nobody else closed,\n"
    "releases quarantined cells, sweeps what killed creations left. Producers and consumers work without it.";

constexpr const char* kFooter =
    "The directory is made a broker if it is absent (its parent must exist) or empty; that is said in the log.\n"
    "Needs the right to write the broker's files.\n\n"
    "Example:\n  ringmaind -d /dev/shm/ringmain";

}  // namespace

std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code) {
    CommandLine line;
    CLI::App app{kDescription, "ringmaind"};
    app.footer(kFooter);
    unsigned interval_ms = 0;
    std::filesystem::path directory;
    app.add_option("-d,--directory", directory, "Broker directory ($RINGMAIN_DIR, or /dev/shm/ringmain)");
    app.add_option("--interval-ms", interval_ms, "Pause between steps while there is nothing to do, 1 to 1000 (default 10)")
        ->check(CLI::Range(1U, 1'000U));
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        exit_code = app.exit(help);
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "ringmaind: %s\nTry 'ringmaind --help'.\n", error.what());
        exit_code = kExitUsage;
        return std::nullopt;
    }
    if (app.count("--directory") > 0)
        line.flags.directory = directory;
    if (interval_ms != 0)
        line.flags.interval = std::chrono::milliseconds(interval_ms);
    return line;
}

}  // namespace ringmain::daemon
