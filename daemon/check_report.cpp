// What `ringmaind --check` prints: what a daemon with that configuration would do.
#include "check_report.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "check_rights.hpp"
#include "check_space.hpp"
#include "cli/rights_text.hpp"
#include "http_sockets.hpp"
#include "log.hpp"
#include "platform/rights.hpp"
#include "quantities.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/error.hpp"
#include "topic_comparison.hpp"
#include "topic_paths.hpp"
#include "topic_quotas.hpp"

namespace ringmain::daemon {

namespace {

void say(const std::string& line) { fmt::print("{}\n", line); }

/// Nothing: there is none yet.
std::optional<Broker> existing_broker(const Configuration& configuration) {
    try {
        return Broker(configuration.directory);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found)
            throw;
        return std::nullopt;
    }
}

/// Says it, if there is one. True: there is none.
bool is_well(const std::string& subject, const std::optional<std::string>& error) {
    if (error)
        say(fmt::format("{}: error: {}", subject, *error));
    return !error;
}

std::optional<std::string> directory_error(const Configuration& configuration, bool exists) {
    const std::filesystem::path& directory = configuration.directory;
    if (!exists) {
        const bool is_there = std::filesystem::exists(directory);
        const auto error = why_not_make_in(is_there ? directory : directory.parent_path());
        return error ? error : why_not_give(configuration.directory_access);
    }
    TopicAccess found = platform::rights_of(directory);
    found.mode = static_cast<std::uint32_t>(std::filesystem::status(directory).permissions());  // with those above 0777
    return why_not_change(directory, found, configuration.directory_access);
}

/// A daemon that runs with this broker has the port itself.
bool is_served_by_its_daemon(const Configuration& configuration) {
    const ListenAddress& port = *configuration.metrics_listen;
    const auto served = broker_served_on_port(port.host, port.port);
    std::error_code unknown;
    return served && std::filesystem::equivalent(*served, configuration.directory, unknown);
}

std::optional<std::string> port_error(const Configuration& configuration) {
    try {
        (void)listen_on_port(configuration.metrics_listen->host, configuration.metrics_listen->port);
        return std::nullopt;
    } catch (const Error& error) {
        const bool is_ours = error.code() == ErrorCode::busy && is_served_by_its_daemon(configuration);
        return is_ours ? std::nullopt : std::optional<std::string>(error.what());
    }
}

bool say_directory(const Configuration& configuration, bool exists) {
    std::string line = fmt::format("directory {}: {}", configuration.directory.string(),
                                   exists ? "is a broker" : "would be made a broker");
    if (configuration.directory_access != TopicAccess{})
        line += fmt::format(", with {}", cli::rights_to_text(configuration.directory_access));
    say(line);
    bool good = is_well("directory", directory_error(configuration, exists));
    good = is_well("socket", why_not_give({{}, configuration.socket.access.group, {}})) && good;
    say(fmt::format("interval {}; log {}, level {}", duration_to_text(configuration.interval),
                    configuration.log_format == LogFormat::json ? "json" : "text", to_string(configuration.log_level)));
    if (configuration.metrics_listen) {
        say(fmt::format("metrics at {}:{}", configuration.metrics_listen->host, configuration.metrics_listen->port));
        good = is_well("metrics", port_error(configuration)) && good;
    }
    return good;
}

std::string changes_of(const TopicComparison& found, const TopicPlan& plan) {
    std::vector<std::string> changes;
    if (found.retention)
        changes.push_back(
            fmt::format("retention would be {}, is {}", to_text(plan.options.retention), to_text(*found.retention)));
    if (found.access)
        changes.push_back(fmt::format("access would be {}, is {}", cli::rights_to_text(plan.options.access),
                                      cli::rights_to_text(*found.access)));
    return changes.empty() ? "is as wanted" : fmt::format("{}", fmt::join(changes, "; "));
}

std::optional<std::string> access_error(const std::optional<Broker>& broker, const TopicPlan& plan,
                                        const TopicComparison& found) {
    if (!found.exists)
        return why_not_give(plan.options.access);
    return found.access
               ? why_not_change(topics_path(broker->directory()) / plan.name, *found.access, plan.options.access)
               : std::nullopt;
}

bool say_topic(const std::optional<Broker>& broker, const TopicPlan& plan, SpaceCheck& space) {
    try {
        const TopicComparison found = broker ? compare(*broker, plan) : TopicComparison{};
        if (!found.exists) {
            std::string line = fmt::format("topic {}: would be created, {} bytes ({} x {} records)", plan.name,
                                           topic_bytes(plan.options), plan.options.partitions, plan.options.records);
            if (plan.options.retention != Retention{})
                line += ", retention " + to_text(plan.options.retention);
            if (plan.options.access != TopicAccess{})
                line += ", " + cli::rights_to_text(plan.options.access);
            say(line);
            const bool fits = is_well("topic " + plan.name, space.take(plan.options));
            return is_well("topic " + plan.name, access_error(broker, plan, found)) && fits;
        }
        if (!found.fixed.empty())
            say(fmt::format("topic {}: error: exists with {}; it would be left as it is", plan.name,
                            fmt::join(found.fixed, "; ")));
        if (found.fixed.empty() || found.retention || found.access)
            say(fmt::format("topic {}: {}", plan.name, changes_of(found, plan)));
        return is_well("topic " + plan.name, access_error(broker, plan, found)) && found.fixed.empty();
    } catch (const Error& error) {
        say(fmt::format("topic {}: error: {}", plan.name, error.what()));
        return false;
    }
}

bool say_totals(const std::optional<Broker>& broker, const Configuration& configuration, const QuotaUsage& missing) {
    const LiveConfiguration live(configuration);
    const QuotaUsage used = broker ? TopicQuotas(*broker, live).usage() : QuotaUsage{};
    const Quotas& quotas = configuration.quotas;
    const auto limit = [](const std::optional<std::uint64_t>& most) {
        return most ? fmt::format(" of {}", *most) : std::string();
    };
    const std::uint64_t topics = used.topics + missing.topics;
    const std::uint64_t bytes = used.bytes + missing.bytes;
    say(fmt::format("in all {}{} topics, {}{} bytes", topics, limit(quotas.topics), bytes, limit(quotas.bytes)));
    const bool fits = topics <= quotas.topics.value_or(topics) && bytes <= quotas.bytes.value_or(bytes);
    if (!fits)
        say("error: that is more than the quotas allow; some topics would not be created");
    return fits;
}

bool report(const Configuration& configuration) {
    const std::optional<Broker> broker = existing_broker(configuration);
    bool good = say_directory(configuration, broker.has_value());
    SpaceCheck space(configuration.directory);
    QuotaUsage missing;
    const std::vector<std::string> existing = broker ? broker->list_topics() : std::vector<std::string>{};
    for (const TopicPlan& plan : configuration.topics) {
        good = say_topic(broker, plan, space) && good;
        if (std::find(existing.begin(), existing.end(), plan.name) != existing.end())
            continue;
        ++missing.topics;
        missing.bytes += topic_bytes(plan.options);
    }
    return say_totals(broker, configuration, missing) && good;
}

}  // namespace

bool print_check_report(const Configuration& configuration) {
    bool good = false;
    try {
        good = report(configuration);
    } catch (const Error& error) {
        say(fmt::format("error: {}", error.what()));
    }
    return std::fflush(stdout) == 0 && good;
}

}  // namespace ringmain::daemon
