// The flags of ringmaind.
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>

namespace ringmain::daemon {

namespace {

constexpr int kExitUsage = 2;
constexpr unsigned kIntervalMsMax = 1'000;

constexpr const char* kDescription =
    "Keeps a Ringmain broker directory: makes the topics of its configuration, applies retention, reaps dead "
    "producers,\n"
    "gates and members, closes tickets that nobody else closed, releases quarantined cells, sweeps what killed "
    "creations\n"
    "left. Producers and consumers work without it, and notice nothing when it stops, is killed or starts.";

constexpr const char* kFooter =
    "Flags override the file. The directory is made a broker if it is absent (its parent must exist) or empty; that "
    "is\n"
    "said in the log, on stderr. Needs the right to write the broker's files. One daemon runs per directory.\n\n"
    "Signals: SIGTERM and SIGINT end it; SIGHUP makes it read the file again, where any error keeps what was in "
    "force.\n"
    "Exit codes: 0 ended by a signal, or checked and all is well; 1 could not start, or --check found errors; 2 wrong\n"
    "command line.\n\n"
    "Examples:\n"
    "  ringmaind -d /dev/shm/ringmain\n"
    "  ringmaind --config /etc/ringmain/ringmaind.toml --log-format json\n"
    "  ringmaind --check /etc/ringmain/ringmaind.toml   # what would be done; changes nothing";

struct Values {
    std::filesystem::path directory;
    std::filesystem::path config;
    std::filesystem::path check;
    unsigned interval_ms = 0;
    LogFormat log_format{};
    LogLevel log_level{};
};

void add_options(CLI::App& app, Values& values) {
    static const std::map<std::string, LogFormat> kFormats = {{"text", LogFormat::text}, {"json", LogFormat::json}};
    static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::debug},
                                                            {"info", LogLevel::info},
                                                            {"warning", LogLevel::warning},
                                                            {"error", LogLevel::error}};
    CLI::Option* const config =
        app.add_option("-c,--config", values.config, "Configuration, in TOML")->type_name("FILE");
    app.add_option("--check", values.check, "Check this configuration, print what would be done, and do nothing")
        ->type_name("FILE")
        ->excludes(config);
    app.add_option("-d,--directory", values.directory,
                   "Broker directory (default: $RINGMAIN_DIR, or /dev/shm/ringmain)")
        ->type_name("DIR");
    app.add_option("--interval-ms", values.interval_ms, "Pause between steps while there is nothing to do (default 10)")
        ->check(CLI::Range(1U, kIntervalMsMax))
        ->type_name("MS");
    app.add_option("--log-format", values.log_format, "One line per event as text (default), or one JSON object a line")
        ->transform(CLI::CheckedTransformer(kFormats).description(""))
        ->type_name("text|json");
    app.add_option("--log-level", values.log_level, "The least that is logged (default info)")
        ->transform(CLI::CheckedTransformer(kLevels).description(""))
        ->type_name("debug|info|warning|error");
}

CommandLine command_line_of(const CLI::App& app, const Values& values) {
    CommandLine line;
    const auto given = [&app](const char* option) { return app.count(option) > 0; };
    line.check = given("--check");
    if (line.check || given("--config"))
        line.file = line.check ? values.check : values.config;
    if (given("--directory"))
        line.flags.directory = values.directory;
    if (given("--interval-ms"))
        line.flags.interval = std::chrono::milliseconds(values.interval_ms);
    if (given("--log-format"))
        line.flags.log_format = values.log_format;
    if (given("--log-level"))
        line.flags.log_level = values.log_level;
    return line;
}

}  // namespace

std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code) {
    CLI::App app{kDescription, "ringmaind"};
    app.footer(kFooter);
    Values values;
    add_options(app, values);
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
    return command_line_of(app, values);
}

}  // namespace ringmain::daemon
