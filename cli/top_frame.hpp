// What `ringmain top` shows, as a pure function of two looks, the size of the screen and what the user chose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringmain/stats.hpp"

namespace ringmain::cli {

enum class TopView : std::uint8_t { topics, partitions, groups, queues, clients, help };
enum class TopSort : std::uint8_t { rate, lag, name };
[[nodiscard]] std::string_view to_string(TopSort sort) noexcept;

struct ScreenSize {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

struct TopState {
    TopView view = TopView::topics;
    TopSort sort = TopSort::rate;
    std::size_t scroll = 0;  ///< Rows of the table that are above the screen.
};

/// A line of the screen.
struct TopLine {
    std::string text;
    bool heading = false;  ///< To be shown in reverse.
};

/// As many lines as the screen has rows, none longer than it is wide. Scrolls no further than there are rows. `before`
/// may be the same look as `now`: then there are no rates.
[[nodiscard]] std::vector<TopLine> draw(const BrokerStats& before, const BrokerStats& now, ScreenSize size,
                                        const TopState& state);

/// Everything at once, for a pipe or a file.
[[nodiscard]] std::string frame_to_text(const BrokerStats& before, const BrokerStats& now, TopSort sort);

/// How far one can scroll on such a screen.
[[nodiscard]] std::size_t scroll_max(const BrokerStats& before, const BrokerStats& now, ScreenSize size,
                                     const TopState& state);
/// Rows of the table that the screen has room for.
[[nodiscard]] std::size_t table_rows(ScreenSize size) noexcept;

}  // namespace ringmain::cli
