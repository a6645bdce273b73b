// The results as a table for people and as one JSON object.
#include "perf_report.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/common/machine.hpp"

namespace ringmain::cli::perf {

namespace {

constexpr std::array<std::pair<const char*, double>, 5> kQuantiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}};

const char* wait_name(WaitStrategy wait) {
    return wait == WaitStrategy::spin ? "spin" : wait == WaitStrategy::yield ? "yield" : "block";
}

const char* latency_name(const Results& results) {
    return results.open_loop ? "one way, from the intended time of sending" : "half of a round trip";
}

std::string rate(double per_s) {
    if (per_s >= 1e9)
        return fmt::format("{:.2f} G", per_s / 1e9);
    if (per_s >= 1e6)
        return fmt::format("{:.2f} M", per_s / 1e6);
    return fmt::format("{:.1f} k", per_s / 1e3);
}

std::string nanoseconds(double ns) {
    if (ns >= 1e7)
        return fmt::format("{:.1f} ms", ns / 1e6);
    if (ns >= 1e4)
        return fmt::format("{:.1f} us", ns / 1e3);
    return fmt::format("{:.0f} ns", ns);
}

std::string pinned_text(const Plan& plan) {
    if (plan.cpu(0) < 0)
        return "not pinned";
    return fmt::format("consumer on processor {}, producers on {}", plan.cpu(0),
                       fmt::join(plan.cpus.begin() + 1, plan.cpus.end(), ","));
}

std::string plan_text(const Plan& plan) {
    return fmt::format("{} bytes, {} {}producer{}, {} partition{}, consumer waits: {}, when full: {}, {}\n", plan.size,
                       plan.producers, plan.exclusive ? "exclusive " : "", plan.producers == 1 ? "" : "s",
                       plan.partitions, plan.partitions == 1 ? "" : "s", wait_name(plan.wait),
                       to_string(plan.when_full), pinned_text(plan));
}

std::string throughput_text(const Plan& plan, const Throughput& throughput) {
    std::string text = fmt::format(
        "throughput    {} records/s, {}B/s ({} records in {:.2f} s)\n", rate(throughput.records_per_s()),
        rate(throughput.records_per_s() * static_cast<double>(plan.size)), throughput.received, throughput.seconds);
    if (throughput.lost > 0) {
        text += fmt::format("lost          {} of {} records were overwritten before they were read\n", throughput.lost,
                            throughput.published);
    }
    return text;
}

std::string latency_text(const Results& results) {
    std::string text = "latency       ";
    for (const auto& [name, fraction] : kQuantiles) {
        text += fmt::format("{} {}, ", name, nanoseconds(results.latency_ns.quantile(fraction)));
    }
    return text + fmt::format("max {}\n              ({}, {} records)\n",
                              nanoseconds(static_cast<double>(results.latency_ns.max())), latency_name(results),
                              results.latency_ns.count());
}

std::string limits_text(const Limits& limits) {
    std::string text = fmt::format("this machine  half a cache-line round trip {}, {} lines/s from core to core",
                                   nanoseconds(limits.ping_pong_ns), rate(limits.lines_per_s));
    if (limits.bulk_bytes_per_s > 0)
        text += fmt::format(", bulk copy {}B/s", rate(limits.bulk_bytes_per_s));
    if (limits.wake_ns > 0)
        text += fmt::format(", waking a process {}", nanoseconds(limits.wake_ns));
    return text + "\n";
}

nlohmann::json latency_json(const Results& results) {
    nlohmann::json json{{"kind", latency_name(results)},
                        {"records", results.latency_ns.count()},
                        {"max_ns", results.latency_ns.max()},
                        {"histogram_ns", nlohmann::json::array()}};
    for (const auto& [name, fraction] : kQuantiles) {
        json[fmt::format("{}_ns", name)] = static_cast<std::uint64_t>(results.latency_ns.quantile(fraction));
    }
    results.latency_ns.for_each_bucket([&json](std::uint64_t lowest, std::uint64_t count) {
        json["histogram_ns"].push_back({lowest, count});
    });
    return json;
}

nlohmann::json limits_json(const Limits& limits) {
    nlohmann::json json{{"line_ping_pong_ns", limits.ping_pong_ns}, {"lines_per_s", limits.lines_per_s}};
    if (limits.bulk_bytes_per_s > 0)
        json["bulk_copy_bytes_per_s"] = limits.bulk_bytes_per_s;
    if (limits.wake_ns > 0)
        json["futex_wake_ns"] = limits.wake_ns;
    return json;
}

/// The processors of the consumer and the producers, or an empty list if nothing was pinned.
nlohmann::json cpus_json(const Plan& plan) {
    return plan.cpu(0) < 0 ? nlohmann::json::array() : nlohmann::json(plan.cpus);
}

}  // namespace

std::string report_to_text(const Plan& plan, const Results& results) {
    std::string text = plan_text(plan);
    if (results.throughput)
        text += throughput_text(plan, *results.throughput);
    if (results.latency_ns.count() > 0)
        text += latency_text(results);
    if (results.limits)
        text += limits_text(*results.limits);
    return text;
}

std::string report_to_json(const Plan& plan, const Results& results) {
    nlohmann::json json{
        {"size", plan.size},           {"producers", plan.producers},          {"partitions", plan.partitions},
        {"exclusive", plan.exclusive}, {"wait", wait_name(plan.wait)},         {"when_full", to_string(plan.when_full)},
        {"rate", plan.rate},           {"machine", bench::describe_machine()}, {"cpus", cpus_json(plan)}};
    if (results.throughput) {
        const Throughput& throughput = *results.throughput;
        json["throughput"] = {{"published", throughput.published},
                              {"received", throughput.received},
                              {"lost", throughput.lost},
                              {"seconds", throughput.seconds},
                              {"records_per_s", throughput.records_per_s()},
                              {"bytes_per_s", throughput.records_per_s() * static_cast<double>(plan.size)}};
    }
    if (results.latency_ns.count() > 0)
        json["latency"] = latency_json(results);
    if (results.limits)
        json["limits"] = limits_json(*results.limits);
    return json.dump() + "\n";
}

}  // namespace ringmain::cli::perf
