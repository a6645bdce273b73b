// `ringmain queue reset`.
#include <memory>
#include <string>

#include "context.hpp"
#include "queue_commands.hpp"
#include "queue_selection.hpp"
#include "reset_command.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain::cli {

namespace {

const std::string kFooter = std::string(
                                "Without --execute nothing is changed: the table shows what would be. Everything from the target on "
                                "comes again, whatever became of\nit before; locks of the time before are none any more, and deliveries "
                                "are counted anew. The queue must have no workers, unless\n--force is given. Each partition is reset in "
                                "one step, not all at once: with --save-plan, a reset that was killed half-way is\nfinished by running it "
                                "again with --from-file.\n\n") +
                            kResetTargets +
                            "Examples:\n"
                            "  ringmain queue reset mail --to earliest\n"
                            "  ringmain queue reset mail -t orders --to -10m --save-plan plan.json --execute\n"
                            "  ringmain queue reset mail --from-file plan.json --execute";

struct QueueResetArguments {
    QueueSelection selection;
    ResetArguments reset;
};

void run(const CLI::App& app, const QueueResetArguments& arguments) {
    check_reset(arguments.reset);
    const Broker broker = open_broker(app);
    QueueAdmin admin(broker);
    const std::string& queue = arguments.selection.queue;
    run_reset({"queue", queue, arguments.selection.topic, [&] { return topics_of(broker, arguments.selection); },
               [&](const std::string& topic, const ResetTarget& target) { return admin.plan(topic, queue, target); },
               [&](const ResetPlan& plan, bool force) { return admin.execute(plan, force); }},
              arguments.reset);
}

}  // namespace

void add_queue_reset(CLI::App& queue) {
    CLI::App* reset = queue.add_subcommand("reset", "Let a queue begin anew, further back or further on");
    const auto arguments = std::make_shared<QueueResetArguments>();
    add_selection(*reset, arguments->selection);
    add_reset_options(*reset, arguments->reset, "workers");
    reset->footer(kFooter);
    reset->callback([reset, arguments] { run(*reset, *arguments); });
}

}  // namespace ringmain::cli
