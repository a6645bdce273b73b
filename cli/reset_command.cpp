// What `group reset` and `queue reset` have in common.
#include "reset_command.hpp"

#include <fmt/core.h>

#include <utility>

#include "errors.hpp"
#include "group_commands.hpp"
#include "group_report.hpp"
#include "output.hpp"
#include "reset_plan_file.hpp"
#include "reset_targets.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

ResetPlans make_plans(const ResetOf& reset, const ResetTarget& target) {
    ResetPlans plans;
    for (const std::string& topic : reset.topics())
        plans.push_back(reset.plan(topic, target));
    return plans;
}

/// Only what was named is taken from the file: a slip in the file's name must not reset another one.
ResetPlans plans_from_file(const ResetOf& reset, const std::string& path) {
    ResetPlans plans;
    for (ResetPlan& plan : read_plans(path)) {
        if (plan.group != reset.name) {
            throw CommandError(fmt::format("{} is for {} '{}', not '{}'", path, reset.noun, printable(plan.group), printable(reset.name)));
        }
        if (reset.topic.empty() || reset.topic == plan.topic)
            plans.push_back(std::move(plan));
    }
    if (plans.empty())
        throw CommandError(fmt::format("{} has no plan for topic '{}'", path, reset.topic));
    return plans;
}

/// Topics that can be reset are; the others are named.
bool execute(const ResetOf& reset, const ResetPlans& plans, bool force) {
    bool all = true;
    for (const ResetPlan& plan : plans) {
        try {
            for (const PartitionResetDone& done : reset.execute(plan, force)) {
                if (done.committed != done.target) {
                    note("topic '{}' partition {}: reset to {}, because {} has gone by now", plan.topic, done.partition, done.committed,
                         done.target);
                }
            }
            note("{} '{}' of topic '{}' is reset", reset.noun, printable(plan.group), plan.topic);
        } catch (const Error& error) {
            note("{}", in_force_words(error));
            all = false;
        }
    }
    return all;
}

}  // namespace

void run_reset(const ResetOf& reset, const ResetArguments& arguments) {
    const bool from_file = !arguments.from_file.empty();
    const ResetTarget target = from_file ? ResetTarget() : parse_reset_target("--to", arguments.to);
    const ResetPlans plans = from_file ? plans_from_file(reset, arguments.from_file) : make_plans(reset, target);
    if (!arguments.save_plan.empty())
        save_plans(arguments.save_plan, plans);
    print(arguments.json ? plans_to_json(plans).dump() + "\n" : plans_to_text(plans));
    if (!arguments.execute)
        return note("nothing was changed; --execute does it");
    hold_stop_signals();
    if (!execute(reset, plans, arguments.force))
        throw Exit{kExitFailed};
}

void check_reset(const ResetArguments& arguments) {
    if (arguments.from_file.empty() == arguments.to.empty())
        throw UsageError("one of --to and --from-file is needed");
    if (!arguments.to.empty())
        (void)parse_reset_target("--to", arguments.to);
}

void add_reset_options(CLI::App& command, ResetArguments& arguments, const std::string& who) {
    command.add_option("--to", arguments.to, "Where to; see below")->type_name("TARGET");
    command.add_option("--from-file", arguments.from_file, "Take the plan from this file ('-': standard input)")->type_name("PLAN");
    command.add_option("--save-plan", arguments.save_plan, "Write the plan to this file before anything is done")->type_name("FILE");
    command.add_flag("--execute", arguments.execute, "Do it, rather than show it");
    command.add_flag("--force", arguments.force, "Also if there are " + who + ", or something moved since the plan was made");
    command.add_flag("--json", arguments.json, "Print the plan as JSON");
}

}  // namespace ringmain::cli
