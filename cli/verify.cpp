// `ringmain verify`: walks all files read-only.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "ringmain/broker.hpp"

namespace ringmain::cli {

namespace {

struct VerifyArguments {
    std::string topic;
    bool json = false;
};

std::string report_to_text(const VerifyReport& report) {
    std::string text = fmt::format("topics {}, partitions {}, records {}, skipped offsets {}, open tickets {}\n",
                                   report.topics, report.partitions, report.records, report.skipped, report.open);
    for (const Damage& damage : report.damage) {
        fmt::format_to(std::back_inserter(text), "damage: {}: {}\n", damage.file, damage.what);
    }
    if (report.damage.empty())
        text.append("no damage\n");
    return text;
}

std::string report_to_json(const VerifyReport& report) {
    nlohmann::ordered_json damage = nlohmann::ordered_json::array();
    for (const Damage& finding : report.damage)
        damage.push_back({{"file", finding.file}, {"what", finding.what}});
    const nlohmann::ordered_json object = {{"topics", report.topics},   {"partitions", report.partitions},
                                           {"records", report.records}, {"skipped", report.skipped},
                                           {"open", report.open},       {"damage", damage}};
    return object.dump() + "\n";
}

void run_verify(const CLI::App& app, const VerifyArguments& arguments) {
    const VerifyReport report = open_broker(app).verify(arguments.topic);
    print(arguments.json ? report_to_json(report) : report_to_text(report));
    if (report.damage.empty())
        return;
    note("{}: {} of damage", broker_directory(app).string(), counted(report.damage.size(), "finding"));
    throw Exit{kExitFailed};
}

}  // namespace

void add_verify(CLI::App& app) {
    CLI::App* verify = app.add_subcommand("verify", "Check every file of the broker, or of one topic, read-only");
    const auto arguments = std::make_shared<VerifyArguments>();
    verify->add_option("TOPIC", arguments->topic, "Only this topic");
    verify->add_flag("--json", arguments->json, "Print one object");
    verify->footer(
        "Counts what is there and lists all damage. Exit 0: no damage; 1: damage. Producers and consumers may go on "
        "meanwhile.\n\n"
        "Examples:\n"
        "  ringmain verify\n"
        "  ringmain verify trades");
    verify->callback([verify, arguments] { run_verify(*verify, *arguments); });
}

}  // namespace ringmain::cli
