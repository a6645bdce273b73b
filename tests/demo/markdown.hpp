// The fenced blocks of a Markdown file.
#pragma once

#include <string>
#include <vector>

namespace ringmain::test {

struct FencedBlock {
    std::string language;  ///< The first word after the fence: "sh", "cpp".
    std::string remark;    ///< The rest of that line.
    std::string text;      ///< Lines between the fences, each with its line feed.
    std::size_t line = 0;  ///< Of the opening fence, from 1.
};

[[nodiscard]] std::vector<FencedBlock> fenced_blocks(const std::string& markdown);

/// The bytes of a file of the source tree. Throws std::runtime_error naming it.
[[nodiscard]] std::string read_source_file(const std::string& relative_path);

}  // namespace ringmain::test
