// `ringmain perf`: throughput and latency between processes on this machine, beside the machine's own limits.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/common/process.hpp"
#include "bench/common/scratch.hpp"
#include "bench/common/ticks.hpp"
#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "perf_plan.hpp"
#include "perf_report.hpp"
#include "perf_run.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

constexpr const char* kFooter =
    "Works in temporary topics of its own: in the broker directory of -d DIR (or RINGMAIN_DIR), otherwise in a private "
    "one in\n"
    "shared memory; both are removed again. Every record is written, read and checked.\n"
    "Without --rate the producers publish as fast as they can, and latency is half of a round trip between two "
    "processes.\n"
    "With --rate records have intended times of sending and latency counts from these, so that a stall is not hidden.\n"
    "Processes are pinned, one to a core, if there are enough cores; --cpus says where, the consumer first, and 'none' "
    "pins none.\n\n"
    "Examples:\n"
    "  ringmain perf\n"
    "  ringmain perf --size 16K --seconds 3\n"
    "  ringmain perf --producers 3 --partitions 3 --exclusive --wait yield\n"
    "  ringmain perf --producers 2 --cpus 2,4,6\n"
    "  ringmain perf --rate 100000 --wait block --json";

void check(const perf::Plan& plan) {
    if (plan.exclusive && plan.producers > plan.partitions) {
        throw UsageError(
            fmt::format("--exclusive: {} producers need as many partitions, not {}", plan.producers, plan.partitions));
    }
    if (plan.rate != 0 && plan.rate < plan.producers) {
        throw UsageError(fmt::format("--rate {} is less than one record a second for each of {} producers", plan.rate,
                                     plan.producers));
    }
}

/// One core for each process, or none is pinned: two that spin on one core would measure the scheduler.
std::vector<int> choose_cpus(std::uint32_t producers) {
    std::vector<int> cpus = bench::usable_cpus();
    if (cpus.size() < producers + 1)
        cpus.assign(producers + 1, -1);
    cpus.resize(producers + 1);
    return cpus;
}

int parse_cpu(const std::string& text, const std::vector<int>& usable) {
    const std::optional<std::uint64_t> cpu = parse_digits(text);
    const auto found = std::find_if(usable.begin(), usable.end(),
                                    [&](int one) { return cpu && *cpu == static_cast<std::uint64_t>(one); });
    if (found != usable.end())
        return *found;
    std::vector<int> sorted = usable;
    std::sort(sorted.begin(), sorted.end());
    throw UsageError(
        fmt::format("--cpus: '{}' is not a processor this process may use: {}", text, fmt::join(sorted, ",")));
}

/// The processors that --cpus names: the consumer's and then the producers'.
std::vector<int> parse_cpus(const std::string& list, std::uint32_t producers) {
    if (list == "none")
        return std::vector<int>(producers + 1, -1);
    const std::vector<int> usable = bench::usable_cpus();
    std::vector<int> cpus;
    for (const std::string& text : CLI::detail::split(list, ','))
        cpus.push_back(parse_cpu(text, usable));
    const std::set<int> different(cpus.begin(), cpus.end());
    if (different.size() != cpus.size())
        throw UsageError(
            fmt::format("--cpus '{}' names a processor twice: two that spin there wait for the scheduler", list));
    if (cpus.size() != producers + 1) {
        throw UsageError(fmt::format("--cpus '{}' names {} for the consumer and {}", list,
                                     counted(cpus.size(), "processor"), counted(producers, "producer")));
    }
    return cpus;
}

void stop_if_told() {
    if (stop_requested())
        throw Exit{128 + 2};
}

perf::Results measure(const perf::Plan& plan) {
    perf::Results results;
    results.limits = perf::measure_limits(plan);
    stop_if_told();
    perf::measure_stream(plan, results);
    stop_if_told();
    if (plan.rate == 0)
        perf::measure_round_trips(plan, results);
    stop_if_told();
    return results;
}

bool directory_was_given(const CLI::App& command) {
    return command.get_parent()->get_option("--directory")->count() != 0 || std::getenv("RINGMAIN_DIR") != nullptr;
}

void run(const CLI::App& command, perf::Plan plan, const std::optional<std::string>& cpus) {
    check(plan);
    catch_stop_signals();
    plan.cpus = cpus ? parse_cpus(*cpus, plan.producers) : choose_cpus(plan.producers);
    bench::tick_ns();  // before any fork
    std::optional<bench::ScratchDirectory> scratch;
    if (directory_was_given(command)) {
        plan.broker = open_broker(command).directory();
    } else {
        scratch.emplace();
        plan.broker = Broker(scratch->broker(), Broker::Mode::open_or_create).directory();
    }
    try {
        const perf::Results results = measure(plan);
        print(plan.json ? report_to_json(plan, results) : report_to_text(plan, results));
    } catch (const bench::Interrupted& stop) {
        throw Exit{128 + stop.signal()};
    }
}

template <class Enum>
void add_choice(CLI::App& command, const std::string& name, Enum& value, std::map<std::string, Enum> choices,
                const std::string& help) {
    command.add_option_function<std::string>(
        name,
        [&value, choices = std::move(choices), name](const std::string& text) {
            const auto choice = choices.find(text);
            if (choice == choices.end())
                throw UsageError(fmt::format("{}: '{}' is not a choice", name, text));
            value = choice->second;
        },
        help);
}

}  // namespace

void add_perf(CLI::App& app) {
    CLI::App* command = app.add_subcommand("perf", "Measure throughput and latency between processes on this machine");
    const auto plan = std::make_shared<perf::Plan>();
    add_size(*command, "--size", plan->size, {perf::kSizeMin, perf::kSizeMax}, "Bytes of a record's value (40)")
        ->type_name("BYTES");
    CLI::Option* count =
        add_number(*command, "--count", plan->count, {1, perf::kCountMax}, "Stop after so many records")
            ->type_name("N");
    add_number(*command, "--seconds", plan->seconds, {1, perf::kSecondsMax}, "Stop after so long (5)")
        ->type_name("S")
        ->excludes(count);
    add_number(*command, "--producers", plan->producers, {1, perf::kProducersMax}, "Producer processes (1)")
        ->type_name("N");
    add_number(*command, "--partitions", plan->partitions, {1, kPartitionsMax}, "Partitions of the topic (1)")
        ->type_name("N");
    command->add_flag("--exclusive", plan->exclusive, "Each producer is the only one of its partitions");
    add_number(*command, "--rate", plan->rate, {1, perf::kRateMax}, "Records a second of all producers together")
        ->type_name("R");
    add_number(*command, "--cell", plan->cell_bytes, {64, 256}, "Bytes of a cell: 64, 128 or 256 (128)")
        ->type_name("BYTES");
    add_choice(*command, "--wait", plan->wait,
               {{"spin", WaitStrategy::spin}, {"yield", WaitStrategy::yield}, {"block", WaitStrategy::block}},
               "What the consumer does when it finds nothing: spin, yield or block (spin)");
    add_choice(*command, "--when-full", plan->when_full,
               {{"block", WhenFull::block}, {"overwrite", WhenFull::overwrite}},
               "Policy of the topic: block or overwrite (block)");
    const auto cpus = std::make_shared<std::optional<std::string>>();
    command->add_option("--cpus", *cpus, "Processors to pin to: the consumer's and then the producers', or none")
        ->type_name("LIST");
    command->add_flag("--json", plan->json, "Print one object, with the whole latency histogram");
    command->footer(kFooter);
    command->callback([command, plan, cpus] { run(*command, *plan, *cpus); });
}

}  // namespace ringmain::cli
