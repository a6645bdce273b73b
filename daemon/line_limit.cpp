// How often lines of one kind are written: a few per window, and then a count of those that were not.
#include "line_limit.hpp"

#include <algorithm>

namespace ringmain::daemon {

namespace {

constexpr std::size_t kKindsKept = 1024;  // beyond it, kinds whose window has passed are forgotten

}  // namespace

bool LineLimit::admits(const Kind& kind, Clock::time_point now) {
    if (windows_.size() >= kKindsKept) {
        std::erase_if(windows_, [&](const auto& entry) {
            return entry.second.end <= now && entry.second.lines <= kLinesPerWindow;
        });
    }
    Window& window = windows_[kind];
    if (window.end <= now)
        window = {now + window_, 0};
    return ++window.lines <= kLinesPerWindow;
}

std::vector<LineLimit::Suppressed> LineLimit::ended(Clock::time_point now) {
    std::vector<Suppressed> all;
    for (auto& [kind, window] : windows_) {
        if (window.lines <= kLinesPerWindow || window.end > now)
            continue;
        all.push_back({kind, window.lines - kLinesPerWindow});
        window.lines = 0;
    }
    return all;
}

std::optional<LineLimit::Clock::time_point> LineLimit::next_end() const noexcept {
    std::optional<Clock::time_point> next;
    for (const auto& [kind, window] : windows_) {
        if (window.lines > kLinesPerWindow)
            next = std::min(next.value_or(window.end), window.end);
    }
    return next;
}

}  // namespace ringmain::daemon
