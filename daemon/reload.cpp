// What changes when the configuration is read again.
#include "reload.hpp"

#include <fmt/core.h>

#include "cli/rights_text.hpp"

namespace ringmain::daemon {

namespace {

std::string to_text(const std::optional<ListenAddress>& address) {
    return address ? fmt::format("{}:{}", address->host, address->port) : "nothing";
}

std::string to_text(const SocketAccess& access) {
    const std::string rights = cli::rights_to_text({.group = access.group, .mode = access.mode});
    return rights.empty() ? "as the directory" : rights;
}

}  // namespace

std::vector<RestartNeeded> keep_until_restart(const Configuration& now, Configuration& next) {
    std::vector<RestartNeeded> needed;
    if (next.directory != now.directory) {
        needed.push_back({"directory", now.directory.string(), next.directory.string()});
        next.directory = now.directory;
    }
    if (next.metrics_listen != now.metrics_listen) {
        needed.push_back({"metrics.listen", to_text(now.metrics_listen), to_text(next.metrics_listen)});
        next.metrics_listen = now.metrics_listen;
    }
    if (next.socket.access != now.socket.access) {
        needed.push_back({"socket", to_text(now.socket.access), to_text(next.socket.access)});
        next.socket.access = now.socket.access;
    }
    return needed;
}

std::vector<std::string> changed_keys(const Configuration& now, const Configuration& next) {
    std::vector<std::string> keys;
    const auto note = [&keys](const char* key, bool is_other) {
        if (is_other)
            keys.emplace_back(key);
    };
    note("access", now.directory_access != next.directory_access);
    note("socket.admin_group", now.socket.admin_group != next.socket.admin_group);
    note("umask", now.umask != next.umask);
    note("interval", now.interval != next.interval);
    note("log.format", now.log_format != next.log_format);
    note("log.level", now.log_level != next.log_level);
    note("log.window", now.log_window != next.log_window);
    note("quotas", now.quotas != next.quotas);
    note("defaults", now.defaults != next.defaults);
    return keys;
}

}  // namespace ringmain::daemon
