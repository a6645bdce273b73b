// Rule: every release names its acquire by label, and the table in docs/memory-order.md knows the label.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "style/rules.hpp"

namespace ringmain::style {

namespace {

struct Sites {
    std::vector<std::string> release;
    std::vector<std::string> acquire;
};

using Labels = std::map<std::string, Sites>;

// "release A (detail), acquire B, C: why" names A as released, B and C as acquired.
void read_comment(const SourceFile& file, std::size_t line, const std::string& comment, Labels& labels) {
    static const std::regex kLabel(R"(^(?:(release|acquire) )?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\b(?: \([^)]*\))?(, )?)");
    std::string rest = comment;
    std::string verb;
    std::smatch match;
    while (std::regex_search(rest, match, kLabel)) {
        if (match[1].matched)
            verb = match[1];
        if (verb.empty() || match[2].length() < 3)
            return;
        Sites& sites = labels[match[2]];
        (verb == "release" ? sites.release : sites.acquire).push_back(file.path + ":" + std::to_string(line));
        if (!match[3].matched)
            return;
        rest = match.suffix();
    }
}

std::set<std::string> rows_of(const std::string& memory_order_text) {
    static const std::regex kRow(R"(^\|\s*`?([A-Z][A-Z0-9_]{2,})`?\s*\|)");
    std::set<std::string> rows;
    std::istringstream in(memory_order_text);
    for (std::string line; std::getline(in, line);) {
        std::smatch match;
        if (std::regex_search(line, match, kRow))
            rows.insert(match[1]);
    }
    return rows;
}

}  // namespace

Findings check_sync_labels(const std::vector<SourceFile>& files, const std::string& memory_order_text) {
    Labels labels;
    for (const SourceFile& file : files) {
        for (std::size_t i = 0; i < file.comments.size(); ++i)
            read_comment(file, i + 1, file.comments[i], labels);
    }
    Findings findings;
    std::set<std::string> rows = rows_of(memory_order_text);
    for (const auto& [name, sites] : labels) {
        if (sites.acquire.empty())
            findings.push_back(sites.release.front() + ": release " + name + " has no acquire");
        if (sites.release.empty())
            findings.push_back(sites.acquire.front() + ": acquire " + name + " has no release");
        const std::string& site = sites.release.empty() ? sites.acquire.front() : sites.release.front();
        if (rows.erase(name) == 0)
            findings.push_back(site + ": " + name + " has no row in docs/memory-order.md");
    }
    for (const std::string& name : rows)
        findings.push_back("docs/memory-order.md: no comment in src/ names " + name);
    return findings;
}

}  // namespace ringmain::style
