// How often lines of one kind are written: a few per window, and then a count of those that were not.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringmain::daemon {

class LineLimit {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kLinesPerWindow = 5;

    struct Kind {
        std::string event;
        std::string topic;
        friend auto operator<=>(const Kind&, const Kind&) = default;
    };
    struct Suppressed {
        Kind kind;
        std::uint64_t lines = 0;
    };

    explicit LineLimit(std::chrono::milliseconds window) : window_(window) {}

    void set_window(std::chrono::milliseconds window) noexcept { window_ = window; }

    /// Whether a line of that kind is to be written now. Its window must not have ended with lines suppressed: call
    /// `ended` first.
    [[nodiscard]] bool admits(const Kind& kind, Clock::time_point now);
    /// The kinds whose window ended and of which lines were suppressed. They begin anew.
    [[nodiscard]] std::vector<Suppressed> ended(Clock::time_point now);
    /// When `ended` has the next answer.
    [[nodiscard]] std::optional<Clock::time_point> next_end() const noexcept;

private:
    struct Window {
        Clock::time_point end;
        std::uint64_t lines = 0;
    };

    std::chrono::milliseconds window_;
    std::map<Kind, Window> windows_;
};

}  // namespace ringmain::daemon
