// Joins the JSON files of the benchmark programs into one result file and one Markdown table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/common/machine.hpp"

namespace {

using nlohmann::json;

std::string read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

json read_json(const std::string& path) { return json::parse(read_text(path)); }

void write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path);
}

/// Google Benchmark's file, reduced to what does not name the machine: one entry for each primitive.
json primitives_of(const json& google) {
    json primitives = json::array();
    for (const json& one : google.at("benchmarks")) {
        if (one.value("aggregate_name", "median") != "median")
            continue;
        primitives.push_back(
            {{"name", one.at("run_name")}, {"cpu_time", one.at("cpu_time")}, {"time_unit", one.at("time_unit")}});
    }
    return primitives;
}

std::string number(double value) {
    if (value >= 1e9)
        return fmt::format("{:.2f} G", value / 1e9);
    if (value >= 1e6)
        return fmt::format("{:.2f} M", value / 1e6);
    if (value >= 1e3)
        return fmt::format("{:.1f} k", value / 1e3);
    return fmt::format("{:.4g} ", value);
}

/// What is short is explained in a file of paragraphs; each names the ratios it is about in backquotes.
struct Explanations {
    std::string text;
    std::string link;

    [[nodiscard]] std::string verdict(const json& ratio) const {
        if (!ratio.contains("verdict"))
            return "-";
        if (ratio["verdict"] == "pass")
            return "pass";
        const bool explained = text.find("`" + ratio["name"].get<std::string>() + "`") != std::string::npos;
        return explained ? fmt::format("short, [why]({})", link) : "short, not explained yet";
    }
};

std::string ratio_rows(const json& result, const Explanations& why) {
    std::string rows;
    for (const json& program : result["programs"]) {
        for (const json& ratio : program["ratios"]) {
            const bool judged = ratio.contains("wanted");
            const std::string wanted =
                judged ? fmt::format("{} {:g}", ratio["relation"].get<std::string>(), ratio["wanted"].get<double>())
                       : std::string();
            rows += fmt::format("| {} | {:.3g} | {:.3g} … {:.3g} | {} | {} |\n", ratio["name"].get<std::string>(),
                                ratio["median"].get<double>(), ratio["min"].get<double>(), ratio["max"].get<double>(),
                                wanted, why.verdict(ratio));
        }
    }
    return rows;
}

std::string extras_text(const json& extras) {
    std::string text;
    const auto median = [&extras](const char* name) { return extras[name]["median"].get<double>(); };
    if (extras.contains("records_per_s"))
        text += fmt::format("; {}records/s", number(median("records_per_s")));
    for (const char* name : {"p90", "p99", "p99.9", "p99.99", "max"}) {
        if (extras.contains(name))
            text += fmt::format("; {} {:.0f}", name, median(name));
    }
    if (extras.contains("lost_fraction"))
        text += fmt::format("; lost {:.1f} %", 100 * median("lost_fraction"));
    if (extras.contains("published_us"))
        text +=
            fmt::format("; published after {:.0f} us, read after {:.0f} us", median("published_us"), median("read_us"));
    return text;
}

std::string measurement_rows(const json& program) {
    std::string rows;
    for (const json& m : program["measurements"]) {
        const std::string unit = m["unit"];
        const std::string note = m["what"].get<std::string>() + extras_text(m.value("extras", json::object()));
        if (m.contains("extras") && m["extras"].contains("never_within_s")) {
            rows += fmt::format("| {} | never within {:g} s | | {} |\n", m["name"].get<std::string>(),
                                m["extras"]["never_within_s"]["median"].get<double>(), note);
            continue;
        }
        rows += fmt::format("| {} | {}{} | {}{} … {}{} | {} |\n", m["name"].get<std::string>(), number(m["median"]),
                            unit, number(m["min"]), unit, number(m["max"]), unit, note);
    }
    for (const json& s : program["skipped"]) {
        rows += fmt::format("| {} | skipped | | {} |\n", s["name"].get<std::string>(), s["reason"].get<std::string>());
    }
    return rows;
}

/// How far apart the processors were while the program ran.
std::string placement_text(const json& program) {
    if (!program.contains("line_ns"))
        return {};
    const json& line_ns = program["line_ns"];
    return fmt::format("\nHalf a round trip of a bare cache line in these rounds: {:.0f} ns ({:.0f} … {:.0f}).\n",
                       line_ns["median"].get<double>(), line_ns["min"].get<double>(), line_ns["max"].get<double>());
}

std::string machine_text(const json& result) {
    const json& machine = result["machine"];
    std::string caches;
    for (const json& cache : machine["caches"])
        caches += (caches.empty() ? "" : "; ") + cache.get<std::string>();
    return fmt::format("{}, {} logical processors{}. {}. {} MiB of memory. {}. {}, `{}`. Commit {}, {}.\n",
                       machine["cpu"].get<std::string>(), machine["logical_cpus"].get<int>(),
                       machine["virtual_machine"].get<bool>() ? " of a virtual machine" : "", caches,
                       machine["memory_mib"].get<long>(), machine["kernel"].get<std::string>(),
                       machine["compiler"].get<std::string>(), machine["flags"].get<std::string>(),
                       result["commit"].get<std::string>(), result["date"].get<std::string>());
}

std::string to_markdown(const json& result, const Explanations& why) {
    std::string text =
        "# Benchmark results\n\nWritten by `bench/run.sh`; what is measured and how is in `docs/benchmarking.md`.\n\n";
    text += machine_text(result) + "\n";
    text +=
        "Medians of rounds in which the contestants alternate, with the lowest and the highest round. A ratio is the "
        "median of "
        "the rounds' own ratios.\n\n";
    text += "| ratio | measured | lowest … highest | wanted | |\n|---|---|---|---|---|\n" + ratio_rows(result, why);
    for (const json& program : result["programs"]) {
        text += fmt::format("\n## {}\n\n| | median | lowest … highest | |\n|---|---|---|---|\n",
                            program["question"].get<std::string>());
        text += measurement_rows(program) + placement_text(program);
    }
    if (!result["primitives"].empty()) {
        text += "\n## What does one call cost within one process?\n\n| | processor time |\n|---|---|\n";
        for (const json& p : result["primitives"]) {
            text += fmt::format("| {} | {:.1f} {} |\n", p["name"].get<std::string>(), p["cpu_time"].get<double>(),
                                p["time_unit"].get<std::string>());
        }
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    std::string commit = "unknown";
    std::string date;
    std::string primitives;
    std::string json_path;
    std::string table_path;
    std::string why_path;
    Explanations why;
    std::vector<std::string> parts;
    CLI::App app{"Joins the JSON files of the benchmark programs into one result file and one Markdown table."};
    app.add_option("--commit", commit, "what was measured");
    app.add_option("--date", date, "when")->required();
    app.add_option("--primitives", primitives, "JSON output of bench_primitives");
    app.add_option("--json", json_path, "result file to write")->required();
    app.add_option("--table", table_path, "Markdown file to write")->required();
    app.add_option("--why", why_path, "Markdown file of paragraphs on the ratios that are short");
    app.add_option("--why-link", why.link, "how the table refers to it");
    app.add_option("parts", parts, "JSON files of the programs, in the order of the report")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        json result{{"commit", commit}, {"date", date}, {"machine", ringmain::bench::describe_machine()}};
        result["programs"] = json::array();
        for (const std::string& part : parts)
            result["programs"].push_back(read_json(part));
        result["primitives"] = primitives.empty() ? json::array() : primitives_of(read_json(primitives));
        if (!why_path.empty())
            why.text = read_text(why_path);
        write_text(json_path, result.dump(1) + "\n");
        write_text(table_path, to_markdown(result, why));
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_report: {}\n", error.what());
        return 1;
    }
    return 0;
}
