// Reading fenced blocks.
#include "markdown.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace ringmain::test {

std::vector<FencedBlock> fenced_blocks(const std::string& markdown) {
    std::vector<FencedBlock> blocks;
    std::istringstream lines(markdown);
    std::string line;
    bool inside = false;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        const bool fence = line.starts_with("```");
        if (fence && !inside) {
            const std::size_t space = line.find(' ');
            const std::string remark = space == std::string::npos ? "" : line.substr(space + 1);
            blocks.push_back({line.substr(3, space == std::string::npos ? space : space - 3), remark, "", number});
        } else if (inside && !fence) {
            blocks.back().text += line + "\n";
        }
        if (fence)
            inside = !inside;
    }
    if (inside)
        throw std::runtime_error("the last fenced block is never closed");
    return blocks;
}

std::string read_source_file(const std::string& relative_path) {
    const std::filesystem::path path = std::filesystem::path(RINGMAIN_SOURCE_DIR) / relative_path;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace ringmain::test
