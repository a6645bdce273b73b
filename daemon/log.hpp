// The daemon's log: one line per event on stderr, as text or as JSON, with names in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "configuration.hpp"

namespace ringmain::daemon {

/// One line. `message` names whatever it is about; the other fields are for programs and are printed in JSON alone.
struct LogLine {
    using Value = std::variant<std::uint64_t, std::string>;

    LogLevel level = LogLevel::info;
    std::string_view event;  ///< Its kind in snake_case, e.g. "topic_created".
    std::string topic = {};
    std::optional<std::uint32_t> partition = {};
    std::string message;
    std::vector<std::pair<std::string_view, Value>> details = {};
    bool limited = true;  ///< Counts towards the limit of its event and topic.
};

/// Never waits, fails or throws: what cannot be written is lost, and how much was lost is said as soon as it can be. Of
/// each event and topic a few lines are written per window; how many were suppressed is said when it ends.
/// Thread safety: all calls from any thread.
class Log {
public:
    using Clock = std::chrono::steady_clock;

    struct Settings {
        LogFormat format = LogFormat::text;
        LogLevel level = LogLevel::info;
        std::chrono::milliseconds window{10'000};
    };

    /// Writes to a copy of the descriptor. Text for systemd's journal has priorities instead of times.
    Log(int descriptor, const Settings& settings);
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log();

    void write(const LogLine& line) noexcept;
    void set(const Settings& settings) noexcept;

    /// When write_summaries has something to say; nothing: not before another line is suppressed.
    [[nodiscard]] std::optional<Clock::time_point> next_summary() const noexcept;
    void write_summaries(Clock::time_point now) noexcept;
    /// Called, by whoever wrote the line, when next_summary() begins to have an answer.
    void on_first_suppressed(std::function<void()> call);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

}  // namespace ringmain::daemon
