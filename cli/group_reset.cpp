// `ringmain group reset`.
#include <memory>
#include <string>

#include "context.hpp"
#include "group_commands.hpp"
#include "group_selection.hpp"
#include "reset_command.hpp"

namespace ringmain::cli {

namespace {

const std::string kFooter = std::string(
                                "Without --execute nothing is changed: the table shows what would be. With it the group must have no "
                                "members, unless --force is\ngiven: then members are fenced and go on at the new offsets. Each partition "
                                "is reset in one step, not all at once: with\n--save-plan, a reset that was killed half-way is finished by "
                                "running it again with --from-file. A plan is refused if the group\nhas moved since it was made.\n\n") +
                            kResetTargets +
                            "Examples:\n"
                            "  ringmain group reset billing --to -10m\n"
                            "  ringmain group reset billing -t trades --to earliest --save-plan plan.json --execute\n"
                            "  ringmain group reset billing --from-file plan.json --execute";

struct GroupResetArguments {
    GroupSelection selection;
    ResetArguments reset;
};

void run(const CLI::App& app, const GroupResetArguments& arguments) {
    check_reset(arguments.reset);
    const Broker broker = open_broker(app);
    GroupAdmin admin(broker);
    const std::string& group = arguments.selection.group;
    run_reset({"group", group, arguments.selection.topic, [&] { return topics_of(broker, arguments.selection); },
               [&](const std::string& topic, const ResetTarget& target) { return admin.plan(topic, group, target); },
               [&](const ResetPlan& plan, bool force) { return admin.execute(plan, force); }},
              arguments.reset);
}

}  // namespace

void add_reset(CLI::App& group) {
    CLI::App* reset = group.add_subcommand("reset", "Move a group's committed offsets, back or forward");
    const auto arguments = std::make_shared<GroupResetArguments>();
    add_selection(*reset, arguments->selection);
    add_reset_options(*reset, arguments->reset, "members");
    reset->footer(kFooter);
    reset->callback([reset, arguments] { run(*reset, *arguments); });
}

}  // namespace ringmain::cli
