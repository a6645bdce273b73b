// Tables on a screen: columns as wide as what is in them.
#pragma once

#include <string>
#include <vector>

namespace ringmain::cli {

/// Columns whose heading begins with '<' are flush left, without the '<'; the others flush right.
class Table {
public:
    explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

    /// As many cells as there are headings.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] bool empty() const noexcept { return rows_.size() == 1; }

    /// The heading and the rows, without trailing blanks and line ends.
    [[nodiscard]] std::vector<std::string> lines() const;
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// How many columns of a terminal the text takes: one a code point.
[[nodiscard]] std::size_t columns_of(const std::string& text) noexcept;
/// The first `columns` of it; what is cut off is shown by a '~'.
[[nodiscard]] std::string cut_to(const std::string& text, std::size_t columns);

}  // namespace ringmain::cli
