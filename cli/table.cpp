// Tables on a screen.
#include "table.hpp"

#include <algorithm>
#include <cstddef>

namespace ringmain::cli {

namespace {

bool begins_code_point(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

std::string padded(const std::string& text, std::size_t width, bool left) {
    const std::string blanks(width - std::min(width, columns_of(text)), ' ');
    return left ? text + blanks : blanks + text;
}

}  // namespace

std::size_t columns_of(const std::string& text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_code_point));
}

std::string cut_to(const std::string& text, std::size_t columns) {
    if (columns_of(text) <= columns)
        return text;
    std::string cut;
    std::size_t seen = 0;
    for (const char c : text) {
        if (begins_code_point(c) && ++seen >= columns)
            break;
        cut.push_back(c);
    }
    return columns == 0 ? cut : cut + '~';
}

std::vector<std::string> Table::lines() const {
    std::vector<std::vector<std::string>> rows = rows_;
    std::vector<bool> left;
    for (std::string& heading : rows.front()) {
        left.push_back(heading.starts_with('<'));
        if (left.back())
            heading.erase(0, 1);
    }
    std::vector<std::size_t> widths(left.size(), 0);
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths.at(i) = std::max(widths.at(i), columns_of(row[i]));
    }
    std::vector<std::string> lines;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line.append(i == 0 ? "" : "  ").append(padded(row[i], widths[i], left[i]));
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string Table::text() const {
    std::string text;
    for (const std::string& line : lines())
        text.append(line).push_back('\n');
    return text;
}

}  // namespace ringmain::cli
