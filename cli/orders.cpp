// The story of the consumer groups, from the directory to the report.
#include "orders.hpp"

#include <cstdio>

#include "demo_directory.hpp"
#include "demo_narrator.hpp"
#include "errors.hpp"
#include "orders_plan.hpp"
#include "orders_report.hpp"
#include "orders_stage.hpp"
#include "output.hpp"
#include "signals.hpp"

namespace ringmain::cli::orders {

namespace {

constexpr const char* kDefaultParent = "/dev/shm";

StageFacts play(Plan& plan, Records& records, std::FILE* stream) {
    const demo::PrivateDirectory directory(plan.options.directory.value_or(kDefaultParent));
    plan.broker = directory.broker();
    demo::Narrator narrator(stream);
    return Stage(plan, records, narrator).run();
}

}  // namespace

bool run_orders(const OrdersOptions& options) {
    catch_stop_signals();
    Plan plan = make_plan(options);
    Records records(plan.journal_entries, plan.label_entries);
    const StageFacts facts = play(plan, records, options.json ? stderr : stdout);
    const RunResult result = judge(plan, records, facts);
    print(options.json ? report_to_json(result) : report_to_text(result));
    for (const demo::Check& check : result.checks) {
        if (!check.good)
            note("demo: wrong count: {}: {}", check.name, check.detail);
    }
    return result.good();
}

}  // namespace ringmain::cli::orders
