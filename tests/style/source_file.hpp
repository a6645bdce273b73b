// A file of the source tree as the style rules see it: its lines, and the code without comments and string contents.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::style {

struct SourceFile {
    std::string path;  ///< Relative to the root of the tree, with '/' between the parts.
    std::string text;

    SourceFile(std::string path_in_tree, std::string content);

    /// The text with comments and the insides of literals replaced by blanks; positions and line breaks stay.
    std::string code;

    /// The text of every line comment, without its slashes and blanks; empty where a line has none.
    std::vector<std::string> comments;

    std::vector<std::string> lines;

    /// 1-based line of a position in text or code.
    [[nodiscard]] std::size_t line_at(std::size_t position) const;

    [[nodiscard]] bool is_under(std::string_view directory) const;
    [[nodiscard]] bool is_header() const;
    [[nodiscard]] bool is_cpp() const;
};

/// Every text file of the project, sorted by path; build directories, hidden tool state and binary files left out.
std::vector<SourceFile> load_tree();

/// The C++ files among them.
std::vector<SourceFile> load_cpp_files();

}  // namespace ringmain::style
