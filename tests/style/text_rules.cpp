// Rules about plain text: the first line, #pragma once, machine paths, marks of unfinished work.
#include <regex>

#include "style/rules.hpp"

namespace ringmain::style {

namespace {

Findings search(const SourceFile& file, const std::regex& what, const std::string& message) {
    Findings findings;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::smatch match;
        if (std::regex_search(file.lines[i], match, what))
            findings.push_back(finding(file, i + 1, message + match.str()));
    }
    return findings;
}

}  // namespace

Findings check_first_line(const SourceFile& file) {
    static const std::regex kCppComment(R"(^// \S.{5,})");
    static const std::regex kScriptComment(R"(^#[ !]\S.{5,})");
    const bool script =
        file.path.ends_with("CMakeLists.txt") || file.path.ends_with(".cmake") || file.path.ends_with(".sh");
    if (!file.is_cpp() && !script)
        return {};
    if (!file.lines.empty() && std::regex_search(file.lines.front(), file.is_cpp() ? kCppComment : kScriptComment))
        return {};
    return {finding(file, 1, "the first line does not say what the file is about")};
}

Findings check_include_guard(const SourceFile& file) {
    if (!file.is_cpp())
        return {};
    static const std::regex kPragmaOnce(R"(^\s*#\s*pragma\s+once\s*$)");
    static const std::regex kDirective(R"(^\s*#\s*(\w+))");
    std::size_t pragmas = 0;
    bool first_directive_is_it = false;
    bool directive_seen = false;
    for (const std::string& line : file.lines) {
        if (!std::regex_search(line, kDirective))
            continue;
        const bool pragma = std::regex_search(line, kPragmaOnce);
        pragmas += pragma ? 1 : 0;
        first_directive_is_it = first_directive_is_it || (!directive_seen && pragma);
        directive_seen = true;
    }
    if (file.is_header() && (pragmas != 1 || !first_directive_is_it)) {
        return {finding(file, 1, "a header's first directive is #pragma once, and it stands once")};
    }
    if (!file.is_header() && pragmas != 0)
        return {finding(file, 1, "#pragma once in a file that is not a header")};
    return {};
}

Findings check_machine_paths(const SourceFile& file) {
    // Put together from parts, so that this file does not break its own rule.
    static const std::regex kPath(std::string("(^|[^A-Za-z0-9_.}])/") +
                                  "(wo"
                                  "rk|ro"
                                  "ot|ho"
                                  "me/[a-z]+)/");
    return search(file, kPath, "a path of somebody's machine: ");
}

Findings check_unfinished_marks(const SourceFile& file) {
    static const std::regex kMark(std::string("\\b(TO") + "DO|FIX" + "ME)\\b");
    return search(file, kMark, "unfinished: ");
}

}  // namespace ringmain::style
