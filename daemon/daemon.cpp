// The daemon: keeps a broker directory as its configuration says until it is told to stop.
#include "daemon.hpp"

#include <fmt/core.h>

#include <utility>

namespace ringmain::daemon {

Log::Settings log_settings(const Configuration& configuration) noexcept {
    return {configuration.log_format, configuration.log_level, configuration.log_window};
}

Daemon::Daemon(Signals& signals, Log& log, ConfigurationSource source, const Configuration& first)
    : signals_(signals),
      log_(log),
      source_(std::move(source)),
      configuration_(first),
      broker_(first.directory, Broker::Mode::open_or_create),
      quotas_(broker_, configuration_),
      keeper_(broker_) {
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

void Daemon::run() {
    const std::string directory = broker_.directory().string();
    if (broker_.is_new()) {
        log_.write({.event = "directory_created",
                    .message = fmt::format("'{}' is a new broker directory", directory),
                    .details = {{"directory", directory}}});
    }
    keeper_.start(configuration_.get()->interval);
    start_services();
    log_.write({.event = "started", .message = fmt::format("keeping {}", directory), .details = {{"directory", directory}}});
    manager_.ready("Keeping " + directory);
    serve();
    manager_.stopping();
    stop_services();
    keeper_.stop();
    log_.write({.event = "stopped", .message = fmt::format("stopped by signal {}", signals_.last()), .limited = false});
}

void Daemon::serve() {
    while (signals_.wait(log_.next_summary()) != Signals::Wake::stop)
        log_.write_summaries(Log::Clock::now());
}

}  // namespace ringmain::daemon
