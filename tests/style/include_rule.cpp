// Rule: a layer includes only lower ones, and foreign headers stay where they belong.
#include <array>
#include <optional>
#include <regex>
#include <set>
#include <string_view>

#include "style/rules.hpp"

namespace ringmain::style {

namespace {

// From the bottom up. The public headers are beside the layers: the bottom ones hold plain vocabulary (status, record).
enum Layer : int { kVocabulary, kPlatform, kLayout, kStructure, kPolicy, kPublicClass, kProgram, kTest };

struct Place {
    std::string_view directory;
    Layer layer;
};

constexpr std::array kPlaces = {
    Place{"include/ringmain", kVocabulary},
    Place{"src/platform", kPlatform},
    Place{"src/layout", kLayout},
    Place{"src/partition_log", kStructure},
    Place{"src/client_table", kStructure},
    Place{"src/gate_table", kStructure},
    Place{"src/group_table", kStructure},
    Place{"src/work_table", kStructure},
    Place{"src/retention", kPolicy},
    Place{"src/recovery", kPolicy},
    Place{"src/assignment", kPolicy},
    Place{"src", kPublicClass},
    Place{"examples", kProgram},
    Place{"cli", kProgram},
    Place{"daemon", kProgram},
    Place{"bench", kProgram},
    Place{"tests", kTest},
};

// Public headers that declare classes; only the classes themselves and the programs may know them.
const std::set<std::string, std::less<>> kClassHeaders = {"broker", "producer", "consumer",
                                                          "keeper", "typed",    "ringmain", "group_admin", "stats",
                                                          "queue", "queue_admin", "retry", "dead_letters", "push"};

std::optional<Layer> layer_of(const std::string& path) {
    for (const Place& place : kPlaces) {
        if (!path.starts_with(place.directory) || path[place.directory.size()] != '/')
            continue;
        const std::string stem = path.substr(place.directory.size() + 1, path.rfind('.') - place.directory.size() - 1);
        return place.layer == kVocabulary && kClassHeaders.contains(stem) ? kPublicClass : place.layer;
    }
    return std::nullopt;
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::optional<std::string> resolve(const SourceFile& file, const std::string& name, const FileExists& exists) {
    for (const std::string& base : {directory_of(file.path), std::string("src/"), std::string("include/"),
                                    std::string(), std::string("tests/")}) {
        if (exists(base + name))
            return base + name;
    }
    return std::nullopt;
}

// The client table is left out: which locks the kernel holds for whom is all it knows.
bool gets_all_handed_in(const SourceFile& file) {
    const auto layer = layer_of(file.path);
    return (layer == kLayout || layer == kStructure) && !file.is_under("src/client_table");
}

Findings check_own_header(const SourceFile& file, std::size_t line, const std::string& name, const FileExists& exists) {
    const auto target = resolve(file, name, exists);
    if (!target)
        return {finding(file, line, "\"" + name + "\" names no file of the project")};
    const auto from = layer_of(file.path);
    const auto to = layer_of(*target);
    if (!from || !to)
        return {finding(file, line, "\"" + name + "\": a directory that belongs to no layer")};

    if (file.is_under("include")) {
        if (!target->starts_with("include/"))
            return {finding(file, line, "a public header includes " + *target)};
        return {};
    }
    if (*to > *from)
        return {finding(file, line, "upward include of " + *target)};
    if (gets_all_handed_in(file) && *to == kPlatform && *target != "src/platform/memory.hpp") {
        return {
            finding(file, line, "memory, time and liveness are handed in here; " + *target + " must not be included")};
    }
    if (file.is_under("examples") && !target->starts_with("include/") && !target->starts_with("examples/")) {
        return {finding(file, line, "an example shows the public interface, not " + *target)};
    }
    return {};
}

bool is_standard(const std::string& name) {
    static const std::set<std::string, std::less<>> kNotStandard = {"features"};
    return name.find_first_of("./") == std::string::npos && !kNotStandard.contains(name);
}

bool any_of(const SourceFile& file, std::initializer_list<std::string_view> directories) {
    for (const std::string_view directory : directories) {
        if (file.is_under(directory))
            return true;
    }
    return false;
}

bool foreign_is_allowed(const SourceFile& file, const std::string& name) {
    const std::string family = name.substr(0, name.find('/'));
    if (family == "boost")
        return any_of(file, {"src/platform", "bench/peers"});
    if (family == "catch2")
        return file.path == "tests/support/catch.hpp";
    if (family == "rapidcheck" || name == "rapidcheck.h")
        return file.is_under("tests");
    if (family == "benchmark")
        return file.is_under("bench");
    if (name == "nlohmann/json.hpp" && file.path == "src/json_fields.hpp")
        return true;
    if (family == "CLI" || family == "fmt" || family == "nlohmann") {
        return any_of(file, {"cli", "daemon", "bench", "tests"});
    }
    if (family == "spdlog" || family == "toml++" || family == "systemd")
        return any_of(file, {"daemon", "tests"});
    return any_of(file,
                  {"src/platform", "cli", "daemon", "bench", "tests", "examples"});  // an operating system's header
}

}  // namespace

Findings check_includes(const SourceFile& file, const FileExists& exists) {
    static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    Findings findings;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::smatch match;
        if (!std::regex_search(file.lines[i], match, kInclude))
            continue;
        const std::string name = match[2];
        if (match[1] == "\"" || name.starts_with("ringmain/")) {
            for (auto& one : check_own_header(file, i + 1, name, exists))
                findings.push_back(std::move(one));
        } else if (!is_standard(name) && !foreign_is_allowed(file, name)) {
            findings.push_back(finding(file, i + 1, "<" + name + "> does not belong into this layer"));
        }
    }
    return findings;
}

}  // namespace ringmain::style
