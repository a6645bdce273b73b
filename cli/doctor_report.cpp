// Findings as text and as JSON.
#include "doctor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

template <class... Args>
void add(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

std::uint64_t count(const DoctorReport& report, Severity severity) {
    return static_cast<std::uint64_t>(
        std::count_if(report.findings.begin(), report.findings.end(),
                      [&](const Finding& finding) { return finding.severity == severity; }));
}

void add_finding(std::string& text, const Finding& finding) {
    add(text, "{:<8} {}\n         {}: {}\n", to_string(finding.severity), finding.id, finding.object, finding.text);
    if (finding.since_ns != 0)
        add(text, "         since {} or before\n", format_time_ns(finding.since_ns));
    else if (finding.happened)
        text.append("         since when is not known\n");
    if (!finding.command.empty())
        add(text, "         {}: {}\n", finding.is_safe() ? "mend" : finding.mends ? "choose" : "look", finding.command);
}

Json finding_to_json(const Finding& finding) {
    return {{"id", finding.id},
            {"severity", to_string(finding.severity)},
            {"object", finding.object},
            {"text", finding.text},
            {"since_ns", finding.since_ns != 0 ? Json(finding.since_ns) : Json(nullptr)},
            {"command", finding.command.empty() ? Json(nullptr) : Json(finding.command)},
            {"mends", finding.command.empty() ? Json(nullptr) : Json(finding.is_safe())}};
}

}  // namespace

std::string report_to_text(const DoctorReport& report) {
    std::string text;
    for (const std::string& done : report.fixed)
        add(text, "done     {}\n", done);
    for (const Finding& finding : report.findings)
        add_finding(text, finding);
    if (report.findings.empty())
        add(text, "{}: nothing is wrong\n", report.directory);
    else
        add(text, "{}: {}, {}, {}\n", report.directory, counted(count(report, Severity::error), "error"),
            counted(count(report, Severity::warning), "warning"), counted(count(report, Severity::note), "note"));
    return text;
}

std::string report_to_json(const DoctorReport& report) {
    Json findings = Json::array();
    for (const Finding& finding : report.findings)
        findings.push_back(finding_to_json(finding));
    const Json json = {{"directory", report.directory},
                       {"fixed", report.fixed},
                       {"errors", count(report, Severity::error)},
                       {"warnings", count(report, Severity::warning)},
                       {"notes", count(report, Severity::note)},
                       {"findings", std::move(findings)}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_ill(const DoctorReport& report) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [](const Finding& finding) { return finding.severity != Severity::note; });
}

}  // namespace ringmain::cli
