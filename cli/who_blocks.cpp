// `ringmain who-blocks`: what producers of `block` topics wait for.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "group_report.hpp"
#include "output.hpp"

namespace ringmain::cli {

namespace {

struct WhoBlocksArguments {
    std::string topic;
    bool all = false;
    bool json = false;
};

void run_who_blocks(const CLI::App& app, const WhoBlocksArguments& arguments) {
    std::vector<LogHolder> holders = GroupAdmin(open_broker(app)).who_blocks(arguments.topic);
    if (!arguments.all)
        std::erase_if(holders, [](const LogHolder& holder) { return !holder.lowest; });
    if (arguments.json)
        return print(holders_to_json(holders) + "\n");
    if (holders.empty())
        return note("nothing holds a log start back");
    print(holders_to_text(holders));
}

}  // namespace

void add_who_blocks(CLI::App& app) {
    CLI::App* who_blocks = app.add_subcommand("who-blocks", "Show which group or gate the producers of a full topic wait for");
    const auto arguments = std::make_shared<WhoBlocksArguments>();
    who_blocks->add_option("-t,--topic", arguments->topic, "Only this topic")->type_name("TOPIC");
    who_blocks->add_flag("--all", arguments->all, "Also those that are further ahead");
    who_blocks->add_flag("--json", arguments->json, "Print an array of objects");
    who_blocks->footer(
        "One line for each partition of a topic created with --when-full block: the group or gate that holds its oldest records, "
        "how\nfar it is behind, how many more records fit (ROOM; 0: producers wait), and whose it is now.\n\n"
        "Examples:\n  ringmain who-blocks\n  ringmain who-blocks -t orders --json | jq '.[] | select(.room_records == 0)'");
    who_blocks->callback([who_blocks, arguments] { run_who_blocks(*who_blocks, *arguments); });
}

}  // namespace ringmain::cli
