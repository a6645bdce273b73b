// Alternating rounds, paired ratios, and what is written about them.
#include "bench/common/contest.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

#include "bench/common/process.hpp"
#include "bench/common/statistics.hpp"
#include "bench/common/ticks.hpp"
#include "bench/limits/limits.hpp"

namespace ringmain::bench {
namespace {

nlohmann::json summary_json(const std::vector<double>& values) {
    const Summary summary = summarize(values);
    return {{"median", summary.median}, {"min", summary.min}, {"max", summary.max}};
}

std::string short_number(double value) {
    if (value >= 1e9)
        return fmt::format("{:.2f} G", value / 1e9);
    if (value >= 1e6)
        return fmt::format("{:.2f} M", value / 1e6);
    if (value >= 1e4)
        return fmt::format("{:.1f} k", value / 1e3);
    return fmt::format("{:.4g}", value);
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path);
}

void print_table(const nlohmann::json& result) {
    fmt::print("\n{}\n", result["question"].get<std::string>());
    for (const auto& m : result["measurements"]) {
        fmt::print("  {:<34} {:>12} {:<10} [{} .. {}]\n", m["name"].get<std::string>(), short_number(m["median"]),
                   m["unit"].get<std::string>(), short_number(m["min"]), short_number(m["max"]));
    }
    for (const auto& r : result["ratios"]) {
        const std::string wanted = r.contains("wanted")
                                       ? fmt::format("wanted {} {:g}: {}", r["relation"].get<std::string>(),
                                                     r["wanted"].get<double>(), r["verdict"].get<std::string>())
                                       : std::string();
        fmt::print("  {:<48} {:>8.3f}  [{:.3f} .. {:.3f}]  {}\n", r["name"].get<std::string>(),
                   r["median"].get<double>(), r["min"].get<double>(), r["max"].get<double>(), wanted);
    }
    if (result.contains("line_ns")) {
        fmt::print("  half a round trip of a bare cache line in these rounds: {:.0f} ns [{:.0f} .. {:.0f}]\n",
                   result["line_ns"]["median"].get<double>(), result["line_ns"]["min"].get<double>(),
                   result["line_ns"]["max"].get<double>());
    }
    for (const auto& s : result["skipped"]) {
        fmt::print("  {:<34} skipped: {}\n", s["name"].get<std::string>(), s["reason"].get<std::string>());
    }
    std::fflush(stdout);
}

}  // namespace

Contest::Contest(std::string program, std::string question, ContestOptions options)
    : program_(std::move(program)), question_(std::move(question)), options_(std::move(options)) {}

void Contest::add(Contestant contestant) {
    if (contestant.name.find(options_.only) == std::string::npos)
        return;
    series_.push_back({std::move(contestant), {}, {}, {}, {}});
}

const Contest::Series* Contest::find(const std::string& name) const {
    for (const Series& series : series_) {
        if (series.contestant.name == name && series.skipped.empty())
            return &series;
    }
    return nullptr;
}

void Contest::run_round(Series& series) {
    if (!series.skipped.empty())
        return;
    try {
        const Sample sample = series.contestant.round();
        series.values.push_back(sample.value);
        for (const auto& [name, value] : sample.extras)
            series.extras[name].push_back(value);
        if (sample.all != nullptr) {
            if (series.all == nullptr)
                series.all = std::make_shared<Histogram>();
            series.all->merge(*sample.all);
        }
    } catch (const Skipped& reason) {
        series.skipped = reason.what();
    } catch (const Interrupted&) {
        throw;
    } catch (const std::exception& error) {
        throw std::runtime_error(series.contestant.name + ": " + error.what());
    }
}

/// Two processors of a virtual machine are at times two threads of one core and at times two cores that are far apart;
/// what passes lines depends on that more than on anything else.
void Contest::look_at_placement() {
    constexpr std::uint64_t kRoundTrips = 20'000;
    const CpuPair cpus{options_.cpus[0], options_.cpus[1]};
    if (cpus.first >= 0)
        line_ns_.push_back(line_ping_pong(cpus, kRoundTrips).quantile(0.5));
}

unsigned Contest::run_rounds() {
    using Clock = std::chrono::steady_clock;
    const auto from = Clock::now();
    for (unsigned round = 0; round < options_.rounds; ++round) {
        const std::chrono::duration<double> used = Clock::now() - from;
        if (round > 0 && options_.budget_s > 0 && used.count() * (round + 1) / round > options_.budget_s)
            return round;
        look_at_placement();
        // Every other round backwards, so that nobody always follows the same neighbour or pays for a drifting clock.
        for (std::size_t i = 0; i < series_.size(); ++i)
            run_round(series_[round % 2 == 0 ? i : series_.size() - 1 - i]);
    }
    return options_.rounds;
}

int Contest::run() {
    rounds_done_ = run_rounds();
    if (rounds_done_ < options_.rounds)
        fmt::print(stderr, "{}: {} of {} rounds, then its time was up\n", program_, rounds_done_, options_.rounds);
    const nlohmann::json result = to_json();
    print_table(result);
    if (!options_.json_path.empty())
        write_file(options_.json_path, result.dump(2) + '\n');
    if (!options_.histograms_path.empty())
        write_histograms();
    return 0;
}

/// Every value of all rounds, a line for each contestant that kept them: {"name", "unit", "rounds", "buckets": [[lowest value,
/// how many], ...]}.
void Contest::write_histograms() const {
    std::string lines;
    for (const Series& series : series_) {
        if (series.all == nullptr)
            continue;
        nlohmann::ordered_json json{{"name", series.contestant.name},
                                    {"unit", series.contestant.unit},
                                    {"rounds", series.values.size()},
                                    {"buckets", nlohmann::ordered_json::array()}};
        series.all->for_each_bucket(
            [&json](std::uint64_t lowest, std::uint64_t count) { json["buckets"].push_back({lowest, count}); });
        lines += json.dump() + '\n';
    }
    write_file(options_.histograms_path, lines);
}

nlohmann::json Contest::measurement_json(const Series& series) const {
    nlohmann::json json = summary_json(series.values);
    json["name"] = series.contestant.name;
    json["unit"] = series.contestant.unit;
    json["what"] = series.contestant.what;
    json["rounds"] = series.values;
    if (series.contestant.point) {
        json["series"] = series.contestant.point->series;
        json["x"] = series.contestant.point->x;
    }
    for (const auto& [name, values] : series.extras)
        json["extras"][name] = summary_json(values);
    return json;
}

nlohmann::json Contest::ratio_json(const Ratio& ratio) const {
    const Series* numerator = find(ratio.numerator);
    const Series* denominator = ratio.denominator.empty() ? nullptr : find(ratio.denominator);
    if (numerator == nullptr || (denominator == nullptr && !ratio.denominator.empty()))
        return {};
    std::vector<double> values = numerator->values;  // round by round: what disturbs one of a pair disturbs both
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] *= ratio.factor / (denominator != nullptr ? denominator->values[i] : 1.0);
    nlohmann::json json = summary_json(values);
    json["name"] = ratio.name;
    json["numerator"] = ratio.numerator;
    if (denominator != nullptr)
        json["denominator"] = ratio.denominator;
    if (ratio.wanted) {
        const bool at_least = ratio.wanted->relation == Relation::at_least;
        const double median = json["median"];
        json["relation"] = at_least ? ">=" : "<=";
        json["wanted"] = ratio.wanted->value;
        json["verdict"] = (at_least ? median >= ratio.wanted->value : median <= ratio.wanted->value) ? "pass" : "short";
    }
    return json;
}

nlohmann::json Contest::to_json() const {
    nlohmann::json json;
    json["program"] = program_;
    json["question"] = question_;
    json["rounds"] = rounds_done_;
    json["scale"] = options_.scale;
    json["pinned"] = options_.cpus.front() >= 0;
    if (!line_ns_.empty()) {
        json["line_ns"] = summary_json(line_ns_);
        json["line_ns"]["rounds"] = line_ns_;
    }
    json["measurements"] = nlohmann::json::array();
    json["ratios"] = nlohmann::json::array();
    json["skipped"] = nlohmann::json::array();
    for (const Series& series : series_) {
        if (series.skipped.empty()) {
            json["measurements"].push_back(measurement_json(series));
        } else {
            json["skipped"].push_back({{"name", series.contestant.name}, {"reason", series.skipped}});
        }
    }
    for (const Ratio& ratio : ratios_) {
        nlohmann::json one = ratio_json(ratio);
        if (!one.is_null())
            json["ratios"].push_back(std::move(one));
    }
    return json;
}

int contest_main(int argc, char** argv, const std::string& program, const std::string& question,
                 const std::function<void(Contest&)>& build) {
    ContestOptions options;
    bool quick = false;
    CLI::App app{question};
    app.add_option("--rounds", options.rounds, "rounds of each contestant")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--scale", options.scale, "multiplies the work of a round")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--budget", options.budget_s, "seconds: no round is begun that would probably end later")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--cpus", options.cpus, "logical processors to pin to, in the order of use (default: as allowed)")
        ->delimiter(',');
    app.add_option("--only", options.only, "only contestants whose name contains this");
    app.add_option("--json", options.json_path, "write the results to this file");
    app.add_option("--histograms", options.histograms_path, "write every latency to this file, a line for each contestant");
    app.add_flag("--quick", quick, "one short round: shows that it works, measures nothing");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (quick) {
        options.rounds = 1;
        options.scale = 0.02;
    }
    if (options.cpus.empty())
        options.cpus = usable_cpus();
    if (options.cpus.size() < 2) {
        fmt::print(stderr, "{}: only one processor: nothing is pinned, the figures say little\n", program);
        options.cpus = {-1, -1};
    }
    try {
        tick_ns();  // before any fork, so that all children use the same scale
        Contest contest(program, question, options);
        build(contest);
        return contest.run();
    } catch (const Interrupted& stop) {
        return 128 + stop.signal();
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", program, error.what());
        return 1;
    }
}

}  // namespace ringmain::bench
