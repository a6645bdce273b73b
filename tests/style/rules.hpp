// The style rules: each takes a file (or all of them) and answers with what breaks the rule.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "style/source_file.hpp"

namespace ringmain::style {

/// "path:line: what is wrong"; an empty list means that the rule holds.
using Findings = std::vector<std::string>;

std::string finding(const SourceFile& file, std::size_t line, const std::string& what);

/// Findings of one rule over many files, one a line, ready to be compared with an empty string.
std::string report(const std::vector<SourceFile>& files, const std::function<Findings(const SourceFile&)>& rule);
std::string report(const Findings& findings);

inline constexpr std::size_t kFunctionLinesMax = 70;
inline constexpr std::size_t kFileLinesMax = 600;

/// Answers whether a path names a file of the tree; lets the rule run on planted files.
using FileExists = std::function<bool(const std::string& path)>;

/// Upward or foreign #include.
Findings check_includes(const SourceFile& file, const FileExists& exists);

Findings check_function_length(const SourceFile& file);
Findings check_file_length(const SourceFile& file);

/// An atomic operation or fence without a named memory order.
Findings check_atomic_orders(const SourceFile& file);

/// Sync-point labels ("release NAME", "acquire NAME") of all files that have no partner, or that disagree with the
/// table in the text of docs/memory-order.md.
Findings check_sync_labels(const std::vector<SourceFile>& files, const std::string& memory_order_text);

Findings check_first_line(const SourceFile& file);
Findings check_include_guard(const SourceFile& file);

/// Paths of somebody's machine.
Findings check_machine_paths(const SourceFile& file);

/// Work that is marked as not done.
Findings check_unfinished_marks(const SourceFile& file);

}  // namespace ringmain::style
