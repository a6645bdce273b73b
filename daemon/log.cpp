// The daemon's log: one line per event on stderr, as text or as JSON, with names in it.
#include "log.hpp"

#include <fmt/core.h>
#include <spdlog/common.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>

#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>

#include "line_limit.hpp"
#include "log_stream.hpp"

namespace ringmain::daemon {

namespace {

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%e%z %l ringmaind: %v";
constexpr const char* kJournalPattern = "%*%v";
constexpr const char* kJsonPattern = "%v";

spdlog::level::level_enum spdlog_level(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warning:
            return spdlog::level::warn;
        case LogLevel::error:
            break;
    }
    return spdlog::level::err;
}

/// "<6>" and the like, which the journal takes for the line's priority (sd-daemon(3)).
class JournalPriority : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
        const char priority = message.level == spdlog::level::debug  ? '7'
                              : message.level == spdlog::level::info ? '6'
                              : message.level == spdlog::level::warn ? '4'
                                                                     : '3';
        line.push_back('<');
        line.push_back(priority);
        line.push_back('>');
    }
    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<JournalPriority>();
    }
};

/// $JOURNAL_STREAM names the file that the journal listens at; stderr may have been sent elsewhere since.
bool is_journal(int descriptor) noexcept {
    const char* const journal = std::getenv("JOURNAL_STREAM");
    struct stat status {};
    if (journal == nullptr || ::fstat(descriptor, &status) != 0)
        return false;
    unsigned long long device = 0;
    unsigned long long inode = 0;
    return std::sscanf(journal, "%llu:%llu", &device, &inode) == 2 && device == status.st_dev && inode == status.st_ino;
}

class StreamSink : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit StreamSink(int descriptor) : stream_(descriptor) {}

    /// Lines that could not be written before the last one that could; then none.
    [[nodiscard]] std::uint64_t take_lost_lines() {
        const std::lock_guard lock(mutex_);
        const std::uint64_t lost = last_was_written_ ? stream_.lost_lines() : 0;
        if (lost != 0)
            stream_.forget_lost_lines();
        return lost;
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        last_was_written_ = stream_.write({line.data(), line.size()});
    }
    void flush_() override {}

private:
    LogStream stream_;
    bool last_was_written_ = true;
};

/// One line whatever names hold.
std::string in_one_line(std::string text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte < 0x20 || byte == 0x7f)
            text.replace(at, 1, fmt::format("\\x{:02x}", byte));
    }
    return text;
}

std::string now_as_text() {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                       utc.tm_hour, utc.tm_min, utc.tm_sec, ms);
}

std::string as_json(const LogLine& line) {
    nlohmann::ordered_json object;
    object["ts"] = now_as_text();
    object["level"] = std::string(to_string(line.level));
    object["event"] = std::string(line.event);
    if (!line.topic.empty())
        object["topic"] = line.topic;
    if (line.partition)
        object["partition"] = *line.partition;
    for (const auto& [name, value] : line.details)
        std::visit([&shown = object[std::string(name)]](const auto& known) { shown = known; }, value);
    object["message"] = line.message;
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

class Log::Impl {
public:
    Impl(int descriptor, const Settings& settings)
        : journal_(is_journal(descriptor)),
          sink_(std::make_shared<StreamSink>(descriptor)),
          logger_("ringmaind", sink_),
          limit_(settings.window) {
        logger_.flush_on(spdlog::level::off);
        logger_.set_error_handler([](const std::string&) {});
        set(settings);
    }

    void set(const Settings& settings) {
        const std::lock_guard lock(mutex_);
        format_ = settings.format;
        limit_.set_window(settings.window);
        logger_.set_level(spdlog_level(settings.level));
        auto formatter = std::make_unique<spdlog::pattern_formatter>();
        formatter->add_flag<JournalPriority>('*');
        formatter->set_pattern(format_ == LogFormat::json ? kJsonPattern : journal_ ? kJournalPattern : kTextPattern);
        sink_->set_formatter(std::move(formatter));
    }

    void write(const LogLine& line) {
        const std::unique_lock lock(mutex_);
        if (!logger_.should_log(spdlog_level(line.level)))
            return;
        const Clock::time_point now = Clock::now();
        tell_suppressed(now);
        if (line.limited) {
            const bool was_quiet = !limit_.next_end();
            if (!limit_.admits({std::string(line.event), line.topic}, now)) {
                if (was_quiet && on_first_suppressed_)
                    on_first_suppressed_();
                return;
            }
        }
        put(line);
    }

    [[nodiscard]] std::optional<Clock::time_point> next_summary() const {
        const std::lock_guard lock(mutex_);
        return limit_.next_end();
    }

    void write_summaries(Clock::time_point now) {
        const std::lock_guard lock(mutex_);
        tell_suppressed(now);
    }

    void on_first_suppressed(std::function<void()> call) {
        const std::lock_guard lock(mutex_);
        on_first_suppressed_ = std::move(call);
    }

private:
    void put(const LogLine& line) {
        put_alone(line);
        const std::uint64_t lost = sink_->take_lost_lines();
        if (lost == 0)
            return;
        put_alone({.level = LogLevel::warning,
                   .event = "log_lines_lost",
                   .message = fmt::format("{} lines of this log could not be written", lost),
                   .details = {{"count", lost}}});
    }

    void put_alone(const LogLine& line) {
        logger_.log(spdlog_level(line.level), format_ == LogFormat::json ? as_json(line) : in_one_line(line.message));
    }

    void tell_suppressed(Clock::time_point now) {
        for (const auto& [kind, lines] : limit_.ended(now)) {
            const std::string where = kind.topic.empty() ? "" : fmt::format(" for topic '{}'", kind.topic);
            put({.level = LogLevel::warning,
                 .event = "lines_suppressed",
                 .topic = kind.topic,
                 .message = fmt::format("suppressed {} similar lines of {}{}", lines, kind.event, where),
                 .details = {{"suppressed_event", kind.event}, {"count", lines}}});
        }
    }

    bool journal_;
    std::shared_ptr<StreamSink> sink_;
    spdlog::logger logger_;
    mutable std::mutex mutex_;
    LogFormat format_ = LogFormat::text;
    LineLimit limit_;
    std::function<void()> on_first_suppressed_;
};

// Out of memory a line is lost, like one that cannot be written.

Log::Log(int descriptor, const Settings& settings) : impl_(std::make_unique<Impl>(descriptor, settings)) {}
Log::~Log() = default;

void Log::write(const LogLine& line) noexcept {
    try {
        impl_->write(line);
    } catch (...) {
    }
}

void Log::set(const Settings& settings) noexcept {
    try {
        impl_->set(settings);
    } catch (...) {
    }
}

std::optional<Log::Clock::time_point> Log::next_summary() const noexcept { return impl_->next_summary(); }

void Log::write_summaries(Clock::time_point now) noexcept {
    try {
        impl_->write_summaries(now);
    } catch (...) {
    }
}

void Log::on_first_suppressed(std::function<void()> call) { impl_->on_first_suppressed(std::move(call)); }

std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug:
            return "debug";
        case LogLevel::info:
            return "info";
        case LogLevel::warning:
            return "warning";
        case LogLevel::error:
            break;
    }
    return "error";
}

}  // namespace ringmain::daemon
