// `ringmain doctor`: what is wrong, since when, and the command that mends it.
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>

#include "commands.hpp"
#include "context.hpp"
#include "doctor_examination.hpp"
#include "doctor_fix.hpp"
#include "doctor_report.hpp"
#include "errors.hpp"
#include "options.hpp"
#include "output.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

struct DoctorArguments {
    bool fix = false;
    bool json = false;
    bool quick = false;
    std::uint64_t planned_bytes = 0;
    std::uint64_t letters_min = 1;
};

Finding unusable(const std::string& directory, const Error& error) {
    if (error.code() == ErrorCode::not_found) {
        Finding finding = make_finding("no-broker", directory, error.what());
        finding.command = fmt::format("ringmain -d {} topic create NAME", shell_word(directory));
        return finding;
    }
    Finding finding = make_finding("broker-unusable", directory, error.what());
    finding.command = fmt::format("ls -la {}", shell_word(directory));
    finding.mends = false;
    return finding;
}

std::optional<Broker> open(const std::string& directory, DoctorReport& report) {
    try {
        return Broker(directory);
    } catch (const Error& error) {
        report.findings.push_back(unusable(directory, error));
        return std::nullopt;
    }
}

void run_doctor(const CLI::App& app, const DoctorArguments& arguments) {
    catch_stop_signals();
    DoctorReport report{broker_directory(app).string(), {}, {}};
    if (const auto broker = open(report.directory, report)) {
        if (arguments.fix)
            report.fixed = fix(*broker);
        Examined examined = look_at(*broker, !arguments.quick);
        examined.planned_bytes = arguments.planned_bytes;
        examined.letters_min = arguments.letters_min;
        report.findings = examine(examined);
    }
    print(arguments.json ? report_to_json(report) + "\n" : report_to_text(report));
    if (is_ill(report))
        throw Exit{kExitFailed};
}

}  // namespace

void add_doctor(CLI::App& app) {
    CLI::App* doctor =
        app.add_subcommand("doctor", "Say what is wrong with the broker, since when, and which command mends it");
    const auto arguments = std::make_shared<DoctorArguments>();
    doctor->add_flag("--fix", arguments->fix, "First do what is safe: one pass of a keeper, if none runs");
    doctor->add_flag("--quick", arguments->quick, "Do not walk all records, as 'ringmain verify' does");
    add_size(*doctor, "--plan", arguments->planned_bytes, {},
             "Also say whether there is room for so many bytes of new topics")
        ->type_name("BYTES");
    add_number(*doctor, "--dead-letters", arguments->letters_min, {1, UINT64_MAX},
               "Warn of topics with so many dead letters or more (default 1)")
        ->type_name("N");
    doctor->add_flag("--json", arguments->json, "Print one object");
    doctor->footer(
        "Looks at the files, and at what the kernel tells of those who use them; needs no daemon. Each finding has a "
        "name, explained in\n"
        "docs/troubleshooting.md, and a command: 'mend' ends the finding, 'look' shows more where somebody has to "
        "decide.\n"
        "--fix frees what the dead held, closes tickets that nobody closed, sweeps what killed creations left, and "
        "removes the socket of\n"
        "a dead daemon. Exit 0: nothing is wrong, or worth a note only; 1: errors or warnings.\n\n"
        "Examples:\n  ringmain doctor\n  ringmain doctor --fix\n  ringmain doctor --json | jq -r '.findings[] | "
        "select(.mends) | .command'");
    doctor->callback([doctor, arguments] { run_doctor(*doctor, *arguments); });
}

}  // namespace ringmain::cli
