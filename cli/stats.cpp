// `ringmain stats`: one look at everything.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "output.hpp"
#include "ringmain/stats.hpp"
#include "stats_report.hpp"

namespace ringmain::cli {

namespace {

struct StatsArguments {
    std::vector<std::string> topics;
    bool json = false;
};

void run_stats(const CLI::App& app, const StatsArguments& arguments) {
    StatsReader reader(open_broker(app));
    StatsOptions options;
    options.topics = arguments.topics;
    const BrokerStats stats = reader.take(options);
    const bool of_all = arguments.topics.empty();
    print(arguments.json ? stats_to_json(stats, of_all) + "\n" : stats_to_text(stats, of_all));
    if (of_all)
        return;
    const auto bad = std::find_if(stats.topics.begin(), stats.topics.end(),
                                  [](const TopicStats& topic) { return !topic.error.empty(); });
    if (bad == stats.topics.end())
        return;
    note("{}", bad->error);
    throw Exit{kExitFailed};
}

}  // namespace

void add_stats(CLI::App& app) {
    CLI::App* stats =
        app.add_subcommand("stats", "Show the figures of the broker, its topics, groups and clients at this moment");
    const auto arguments = std::make_shared<StatsArguments>();
    stats->add_option("TOPIC", arguments->topics, "Only these topics");
    stats->add_flag("--json", arguments->json, "Print one object with all there is");
    stats->footer(
        "Needs no daemon and no more than the right to read. A topic that cannot be read is shown with its error "
        "beside the "
        "others;\nexit 1 only if it was asked for by its name. Figures of many records are estimated from a few, and "
        "marked '~'.\n\n"
        "Examples:\n"
        "  ringmain stats\n"
        "  ringmain stats orders --json | jq '.topics[0].groups[] | {group, lag: [.partitions[].lag] | add}'");
    stats->callback([stats, arguments] { run_stats(*stats, *arguments); });
}

}  // namespace ringmain::cli
