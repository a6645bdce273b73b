// `ringmain group reset`.
#include <fmt/core.h>

#include <memory>
#include <string>

#include "context.hpp"
#include "errors.hpp"
#include "group_commands.hpp"
#include "group_report.hpp"
#include "group_selection.hpp"
#include "output.hpp"
#include "reset_plan_file.hpp"
#include "reset_targets.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

constexpr const char* kFooter =
    "Without --execute nothing is changed: the table shows what would be. With it the group must have no members, unless "
    "--force is\ngiven: then members are fenced and go on at the new offsets. Each partition is reset in one step, not all at "
    "once: with\n--save-plan, a reset that was killed half-way is finished by running it again with --from-file. A plan is refused if "
    "the group\nhas moved since it was made.\n\n"
    "Targets (--to), for each partition:\n"
    "  earliest    the oldest record kept\n"
    "  latest      the end\n"
    "  OFFSET      this offset\n"
    "  @TIME       the first record not before TIME: milliseconds since the epoch, or ISO 8601\n"
    "  +N, -N      so many offsets forward, or back, from the committed offset\n"
    "  -DURATION   the first record of the last -500ms, -90s, -10m, -2h, -1d\n"
    "Targets outside of what the log holds become its start or its end, and are marked.\n\n"
    "Examples:\n"
    "  ringmain group reset billing --to -10m\n"
    "  ringmain group reset billing -t trades --to earliest --save-plan plan.json --execute\n"
    "  ringmain group reset billing --from-file plan.json --execute";

struct ResetArguments {
    GroupSelection selection;
    std::string to;
    std::string from_file;
    std::string save_plan;
    bool execute = false;
    bool force = false;
    bool json = false;
};

ResetPlans make_plans(GroupAdmin& admin, const ResetArguments& arguments, const ResetTarget& target) {
    ResetPlans plans;
    for (const std::string& topic : topics_of(admin, arguments.selection))
        plans.push_back(admin.plan(topic, arguments.selection.group, target));
    return plans;
}

/// Only what GROUP and -t say is taken from the file: a slip in the file's name must not reset another group.
ResetPlans plans_from_file(const ResetArguments& arguments) {
    ResetPlans plans;
    for (ResetPlan& plan : read_plans(arguments.from_file)) {
        if (plan.group != arguments.selection.group) {
            throw CommandError(fmt::format("{} is for group '{}', not '{}'", arguments.from_file, printable(plan.group),
                                           printable(arguments.selection.group)));
        }
        if (arguments.selection.topic.empty() || arguments.selection.topic == plan.topic)
            plans.push_back(std::move(plan));
    }
    if (plans.empty())
        throw CommandError(fmt::format("{} has no plan for topic '{}'", arguments.from_file, arguments.selection.topic));
    return plans;
}

/// Topics that can be reset are; the others are named.
bool execute(GroupAdmin& admin, const ResetPlans& plans, bool force) {
    bool all = true;
    for (const ResetPlan& plan : plans) {
        try {
            for (const PartitionResetDone& done : admin.execute(plan, force)) {
                if (done.committed != done.target) {
                    note("topic '{}' partition {}: reset to {}, because {} has gone by now", plan.topic, done.partition, done.committed,
                         done.target);
                }
            }
            note("group '{}' of topic '{}' is reset", printable(plan.group), plan.topic);
        } catch (const Error& error) {
            note("{}", in_force_words(error));
            all = false;
        }
    }
    return all;
}

void run_reset(const CLI::App& app, const ResetArguments& arguments) {
    const bool from_file = !arguments.from_file.empty();
    if (from_file == !arguments.to.empty())
        throw UsageError("one of --to and --from-file is needed");
    const ResetTarget target = from_file ? ResetTarget() : parse_reset_target("--to", arguments.to);
    GroupAdmin admin(open_broker(app));
    const ResetPlans plans = from_file ? plans_from_file(arguments) : make_plans(admin, arguments, target);
    if (!arguments.save_plan.empty())
        save_plans(arguments.save_plan, plans);
    print(arguments.json ? plans_to_json(plans).dump() + "\n" : plans_to_text(plans));
    if (!arguments.execute)
        return note("nothing was changed; --execute does it");
    hold_stop_signals();
    if (!execute(admin, plans, arguments.force))
        throw Exit{kExitFailed};
}

}  // namespace

void add_reset(CLI::App& group) {
    CLI::App* reset = group.add_subcommand("reset", "Move a group's committed offsets, back or forward");
    const auto arguments = std::make_shared<ResetArguments>();
    add_selection(*reset, arguments->selection);
    reset->add_option("--to", arguments->to, "Where to; see below")->type_name("TARGET");
    reset->add_option("--from-file", arguments->from_file, "Take the plan from this file ('-': standard input)")->type_name("PLAN");
    reset->add_option("--save-plan", arguments->save_plan, "Write the plan to this file before anything is done")->type_name("FILE");
    reset->add_flag("--execute", arguments->execute, "Do it, rather than show it");
    reset->add_flag("--force", arguments->force, "Also if the group has members, or has moved since the plan was made");
    reset->add_flag("--json", arguments->json, "Print the plan as JSON");
    reset->footer(kFooter);
    reset->callback([reset, arguments] { run_reset(*reset, *arguments); });
}

}  // namespace ringmain::cli
