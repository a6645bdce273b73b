// The daemon: keeps a broker directory as its configuration says until it is told to stop.
#include "daemon.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "broker_place.hpp"
#include "event_line.hpp"
#include "platform/files.hpp"
#include "reload.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"
#include "topic_provision.hpp"

namespace ringmain::daemon {

namespace {

/// Out of memory the line is lost.
void log_event(Log& log, const KeeperEvent& event) noexcept {
    try {
        log.write(line_of(event));
    } catch (const std::exception&) {
    }
}

Configuration with_umask_set(const Configuration& configuration) {
    if (configuration.umask)
        ::umask(static_cast<::mode_t>(*configuration.umask));
    return configuration;
}

}  // namespace

Log::Settings log_settings(const Configuration& configuration) noexcept {
    return {configuration.log_format, configuration.log_level, configuration.log_window};
}

Log::Settings log_settings(const Flags& flags) noexcept {
    return {flags.log_format.value_or(LogFormat::text), flags.log_level.value_or(LogLevel::info),
            Configuration{}.log_window};
}

void log_problems(Log& log, const std::vector<ConfigurationProblem>& problems) {
    for (const ConfigurationProblem& problem : problems) {
        log.write({.level = LogLevel::error,
                   .event = "configuration_refused",
                   .message = to_string(problem),
                   .details = {{"file", problem.file}, {"line", std::uint64_t{problem.line}}, {"key", problem.key}},
                   .limited = false});
    }
}

Daemon::Daemon(Signals& signals, Log& log, ConfigurationSource source, const Configuration& first)
    : signals_(signals),
      log_(log),
      source_(std::move(source)),
      configuration_(with_umask_set(first)),
      watchdog_(manager_.watchdog()),
      broker_(open_place(first)),
      quotas_(broker_, configuration_),
      clients_(platform::identity_of(clients_path(broker_.directory()))),
      keeper_(broker_, [this, &log](const KeeperEvent& event) {
          log_event(log, event);
          note_keeping(event.kind);
      }) {
    log_.on_first_suppressed([this] { signals_.wake(); });
}

Daemon::~Daemon() {
    stop_services();
    keeper_.stop();
    log_.on_first_suppressed({});
}

void Daemon::start_services() {
    services_ = make_services({broker_, quotas_, configuration_, keeper_, log_});
    for (const auto& service : services_)
        service->start();
}

void Daemon::stop_services() noexcept {
    for (auto service = services_.rbegin(); service != services_.rend(); ++service)
        (*service)->stop();
    services_.clear();
}

void Daemon::note_start() {
    const std::string directory = broker_.directory().string();
    if (broker_.is_new()) {
        log_.write({.event = "directory_created",
                    .message = fmt::format("'{}' is a new broker directory", directory),
                    .details = {{"directory", directory}},
                    .limited = false});
    }
    if (ServiceManager::is_ignored()) {
        log_.write(
            {.level = LogLevel::warning,
             .event = "service_manager_ignored",
             .message =
                 "NOTIFY_SOCKET is ignored: this ringmaind was built without libsystemd. In its unit, use Type=exec "
                 "and no WatchdogSec",
             .limited = false});
    }
}

void Daemon::run() {
    note_start();
    apply_directory_access();
    keeper_.start(configuration_.get()->interval);
    provision({});
    start_services();
    log_.write(
        {.event = "started",
         .message = fmt::format("keeping {}", broker_.directory().string()),
         .details = {{"directory", broker_.directory().string()}, {"pid", static_cast<std::uint64_t>(::getpid())}},
         .limited = false});
    manager_.ready(status_text());
    serve();
    manager_.stopping();
    stop_services();
    keeper_.stop();
    log_.write({.event = "stopped",
                .message = fmt::format("stopped by signal {}", signals_.last()),
                .details = {{"signal", static_cast<std::uint64_t>(signals_.last())}},
                .limited = false});
}

std::string Daemon::status_text() const {
    const std::size_t topics = configuration_.get()->topics.size();
    return fmt::format("Keeping {}, {} topic{} configured", broker_.directory().string(), topics,
                       topics == 1 ? "" : "s");
}

void Daemon::serve() {
    for (;;) {
        switch (signals_.wait(next_wake())) {
            case Signals::Wake::stop:
                return;
            case Signals::Wake::reload:
                reload();
                break;
            case Signals::Wake::deadline:
            case Signals::Wake::woken:
                break;
        }
        log_.write_summaries(Log::Clock::now());
        check_clients();
        keep_alive();
    }
}

/// In the keeper's thread.
void Daemon::note_keeping(KeeperEventKind kind) {
    if (kind != KeeperEventKind::keeping_stopped && kind != KeeperEventKind::keeping_resumed)
        return;
    keeping_ = kind == KeeperEventKind::keeping_resumed;
    signals_.wake();
}

/// Without the table that is open nobody can be proven dead: only a daemon that opens the one at the path can keep again.
void Daemon::check_clients() const {
    if (keeping_ || platform::identity_of(clients_path(broker_.directory())) == clients_)
        return;
    throw Error(ErrorCode::corrupt, clients_path(broker_.directory()).string(),
                "'" + clients_path(broker_.directory()).string() +
                    "' was removed or replaced: nothing can be kept any more; start the daemon again");
}

std::optional<Signals::Clock::time_point> Daemon::next_wake() const noexcept {
    const auto summary = log_.next_summary();
    const auto look = watchdog_.next_look();
    return summary && look ? std::min(*summary, *look) : summary ? summary : look;
}

void Daemon::reload() {
    manager_.reloading();
    LoadedConfiguration loaded = source_.load();
    if (loaded.configuration) {
        const std::shared_ptr<const Configuration> before = configuration_.get();
        for (const auto& [key, now, wanted] : keep_until_restart(*before, *loaded.configuration)) {
            log_.write({.level = LogLevel::warning,
                        .event = "restart_needed",
                        .message = fmt::format("{} stays {} until the daemon is restarted; the configuration says {}",
                                               key, now, wanted),
                        .details = {{"key", key}},
                        .limited = false});
        }
        configuration_.set(std::move(*loaded.configuration));
        apply(*before);
    } else {
        log_problems(log_, loaded.problems);
        log_.write({.level = LogLevel::error,
                    .event = "reload_refused",
                    .message = fmt::format("the configuration that was in force stays so: {} error{} in {}",
                                           loaded.problems.size(), loaded.problems.size() == 1 ? "" : "s",
                                           source_.file()->string()),
                    .details = {{"errors", std::uint64_t{loaded.problems.size()}}},
                    .limited = false});
    }
    manager_.ready(status_text());
}

void Daemon::apply(const Configuration& before) {
    const std::shared_ptr<const Configuration> now = configuration_.get();
    log_.set(log_settings(*now));
    (void)with_umask_set(*now);
    apply_directory_access();
    if (now->interval != before.interval) {
        keeper_.stop();
        keeper_.start(now->interval);
    }
    provision(before.topics);
    const std::vector<std::string> keys = changed_keys(before, *now);
    const std::string what = keys.empty() ? "" : fmt::format("; changed: {}", fmt::join(keys, ", "));
    log_.write(
        {.event = "reloaded", .message = fmt::format("the configuration was read again{}", what), .limited = false});
}

void Daemon::provision(const std::vector<TopicPlan>& before) {
    const std::shared_ptr<const Configuration> now = configuration_.get();
    TopicProvision topics(broker_, quotas_, log_, [this] {
        keep_alive();
        return Signals::stop_is_pending();
    });
    topics.apply(now->topics);
    topics.note_vanished(before, now->topics);
}

void Daemon::apply_directory_access() {
    const TopicAccess access = configuration_.get()->directory_access;
    try {
        if (set_directory_access(broker_.directory(), access)) {
            log_.write({.event = "directory_access_changed",
                        .message = fmt::format("'{}' has the configured owner, group and mode now",
                                               broker_.directory().string()),
                        .limited = false});
        }
    } catch (const Error& error) {
        log_.write({.level = LogLevel::error,
                    .event = "directory_access_not_changed",
                    .message = error.what(),
                    .limited = false});
    }
}

/// Vouches for the keeper, not for this thread alone.
void Daemon::keep_alive() {
    if (watchdog_.is_to_be_fed(Watchdog::Clock::now(), keeper_.keeper().statistics().steps))
        manager_.alive();
}

}  // namespace ringmain::daemon
