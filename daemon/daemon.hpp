// The daemon: keeps a broker directory as its configuration says until it is told to stop.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configuration_source.hpp"
#include "keeper_thread.hpp"
#include "live_configuration.hpp"
#include "log.hpp"
#include "platform/file_identity.hpp"
#include "ringmain/broker.hpp"
#include "service.hpp"
#include "service_manager.hpp"
#include "signals.hpp"
#include "topic_quotas.hpp"
#include "watchdog.hpp"

namespace ringmain::daemon {

[[nodiscard]] Log::Settings log_settings(const Configuration& configuration) noexcept;
/// Before, or without, a configuration.
[[nodiscard]] Log::Settings log_settings(const Flags& flags) noexcept;

void log_problems(Log& log, const std::vector<ConfigurationProblem>& problems);

class Daemon {
public:
    /// Opens or makes the broker directory and takes the keeper's lock. Throws Error: busy (names the pid of the other
    /// keeper), and what Broker throws.
    Daemon(Signals& signals, Log& log, ConfigurationSource source, const Configuration& first);
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;
    ~Daemon();

    /// Until SIGTERM or SIGINT. Throws Error if a service cannot start.
    void run();

private:
    void note_start();
    void start_services();
    void stop_services() noexcept;
    void serve();
    void reload();
    void apply(const Configuration& before);
    void provision(const std::vector<TopicPlan>& before);
    void apply_directory_access();
    void note_keeping(KeeperEventKind kind);
    void check_clients() const;
    void keep_alive();
    [[nodiscard]] std::optional<Signals::Clock::time_point> next_wake() const noexcept;
    [[nodiscard]] std::string status_text() const;

    Signals& signals_;
    Log& log_;
    ConfigurationSource source_;
    LiveConfiguration configuration_;
    ServiceManager manager_;
    Watchdog watchdog_;
    Broker broker_;
    TopicQuotas quotas_;
    std::atomic<bool> keeping_{true};
    std::optional<platform::FileIdentity> clients_;  // the table that is open
    KeeperThread keeper_;
    std::vector<std::unique_ptr<Service>> services_;
};

}  // namespace ringmain::daemon
