// Where a daemon's configuration comes from: a file, and flags that override it.
#include "configuration_source.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "quantities.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/error.hpp"
#include "table_reader.hpp"
#include "topic_section.hpp"

namespace ringmain::daemon {

namespace {

constexpr std::uint32_t kDirectoryModeMax = 07777;
constexpr std::uint32_t kUmaskMax = 0777;
constexpr std::uint32_t kSocketModeMax = 0666;
constexpr TableReader::Range kIntervalMs{1, 1'000};
constexpr TableReader::Range kLogWindowMs{100, 3'600'000};

void read_broker(TableReader& file, Configuration& configuration, ProblemList& problems) {
    if (const auto directory = file.text("directory")) {
        configuration.directory = *directory;
        if (directory->empty())
            file.refuse("directory", "an empty path is no directory");
    }
    configuration.interval = file.duration("interval", kIntervalMs).value_or(configuration.interval);
    configuration.umask = file.mode("umask", kUmaskMax);
    const toml::table* const table = file.table("access");
    if (table == nullptr)
        return;
    TableReader access(*table, "access", problems);
    configuration.directory_access = {access.user("owner"), access.group("group"),
                                      access.mode("mode", kDirectoryModeMax)};
    access.refuse_unknown_keys();
}

void read_log(TableReader& file, Configuration& configuration, ProblemList& problems) {
    const toml::table* const table = file.table("log");
    if (table == nullptr)
        return;
    TableReader log(*table, "log", problems);
    if (const auto format = log.choice("format", {"text", "json"}))
        configuration.log_format = static_cast<LogFormat>(*format);
    if (const auto level = log.choice("level", {"debug", "info", "warning", "error"}))
        configuration.log_level = static_cast<LogLevel>(*level);
    configuration.log_window = log.duration("window", kLogWindowMs).value_or(configuration.log_window);
    log.refuse_unknown_keys();
}

void read_socket(TableReader& file, SocketSettings& settings, ProblemList& problems) {
    const toml::table* const table = file.table("socket");
    if (table == nullptr)
        return;
    TableReader socket(*table, "socket", problems);
    settings.access = {socket.group("group"), socket.mode("mode", kSocketModeMax)};
    settings.admin_group = socket.group("admin_group");
    socket.refuse_unknown_keys();
}

bool is_loopback(std::string_view host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

/// "HOST:PORT", an IPv6 address in brackets.
std::optional<ListenAddress> parse_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
        return std::nullopt;
    return ListenAddress{std::string(host), port};
}

void read_metrics(TableReader& file, Configuration& configuration, ProblemList& problems) {
    const toml::table* const table = file.table("metrics");
    if (table == nullptr)
        return;
    TableReader metrics(*table, "metrics", problems);
    if (const auto text = metrics.text("listen")) {
        const auto address = parse_address(*text);
        if (!address) {
            metrics.refuse("listen", fmt::format("'{}' is not HOST:PORT with a port of 0 to 65535", *text));
        } else if (!is_loopback(address->host)) {
            metrics.refuse("listen",
                           fmt::format("'{}' is no loopback address (127.x.x.x, [::1] or localhost); whoever is to "
                                       "read metrics from afar needs a proxy that asks who he is",
                                       address->host));
        }
        configuration.metrics_listen = address;
    }
    metrics.refuse_unknown_keys();
}

void read_quotas(TableReader& file, Quotas& quotas, ProblemList& problems) {
    const toml::table* const table = file.table("quotas");
    if (table == nullptr)
        return;
    TableReader reader(*table, "quotas", problems);
    quotas = {reader.size("bytes", {}), reader.count("topics", {}), reader.size("topic_bytes", {})};
    reader.refuse_unknown_keys();
}

void check_name(const toml::key& name, ProblemList& problems) {
    try {
        check_topic_name(name.str());
    } catch (const Error& error) {
        problems.add(name.source(), "topics", error.what());
    }
}

/// What the topics of the file need together must fit its quotas, or some of them would never be made.
void check_quotas(const toml::table& topics, const Configuration& configuration, ProblemList& problems) {
    const Quotas& quotas = configuration.quotas;
    std::uint64_t bytes = 0;
    for (const TopicPlan& plan : configuration.topics) {
        const std::uint64_t needed = topic_bytes(plan.options);
        bytes += needed;
        if (quotas.topic_bytes && needed > *quotas.topic_bytes) {
            problems.add(
                topics.get(plan.name)->source(), "topics." + plan.name,
                fmt::format("the topic takes {} bytes, and quotas.topic_bytes is {}", needed, *quotas.topic_bytes));
        }
    }
    if (quotas.bytes && bytes > *quotas.bytes)
        problems.add(topics.source(), "topics",
                     fmt::format("the topics take {} bytes, and quotas.bytes is {}", bytes, *quotas.bytes));
    if (quotas.topics && configuration.topics.size() > *quotas.topics) {
        problems.add(
            topics.source(), "topics",
            fmt::format("there are {} topics, and quotas.topics is {}", configuration.topics.size(), *quotas.topics));
    }
}

void read_topics(TableReader& file, Configuration& configuration, ProblemList& problems) {
    if (const toml::table* const table = file.table("defaults"))
        configuration.defaults = read_topic_options(*table, "defaults", {}, problems);
    const toml::table* const topics = file.table("topics");
    if (topics == nullptr)
        return;
    for (const auto& [name, node] : *topics) {
        check_name(name, problems);
        const std::string path = fmt::format("topics.{}", name.str());
        const toml::table* const table = node.as_table();
        if (table == nullptr) {
            problems.add(node.source(), path, fmt::format("a topic is a table of its options: [{}]", path));
            continue;
        }
        configuration.topics.push_back(
            {std::string(name.str()), read_topic_options(*table, path, configuration.defaults, problems)});
    }
    if (problems.empty())
        check_quotas(*topics, configuration, problems);
}

void read_file(const toml::table& table, Configuration& configuration, ProblemList& problems) {
    TableReader file(table, "", problems);
    read_broker(file, configuration, problems);
    read_log(file, configuration, problems);
    read_socket(file, configuration.socket, problems);
    read_metrics(file, configuration, problems);
    read_quotas(file, configuration.quotas, problems);
    read_topics(file, configuration, problems);
    file.refuse_unknown_keys();
}

std::optional<std::string> text_of(const std::filesystem::path& path, ProblemList& problems) {
    const auto refuse = [&problems](int error) {
        problems.add_for_file(fmt::format("cannot be read: {}", std::strerror(error)));
        return std::nullopt;
    };
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return refuse(EISDIR);
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
        problems.add_for_file("is no regular file");  // reading a pipe could wait for ever
        return std::nullopt;
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        return refuse(errno);
    std::ostringstream text;
    text << stream.rdbuf();
    if (stream.bad())
        return refuse(EIO);
    return text.str();
}

void load_file(const std::filesystem::path& path, Configuration& configuration, ProblemList& problems) {
    const auto text = text_of(path, problems);
    if (!text)
        return;
    try {
        read_file(toml::parse(*text, path.string()), configuration, problems);
    } catch (const toml::parse_error& error) {
        problems.add(error.source(), "", std::string(error.description()));
    }
}

void override_by(const Flags& flags, Configuration& configuration) {
    if (flags.directory)
        configuration.directory = *flags.directory;
    if (configuration.directory.empty())
        configuration.directory = default_broker_directory();
    configuration.interval = flags.interval.value_or(configuration.interval);
    configuration.log_format = flags.log_format.value_or(configuration.log_format);
    configuration.log_level = flags.log_level.value_or(configuration.log_level);
}

}  // namespace

std::string to_string(const ConfigurationProblem& problem) {
    std::string text = problem.file;
    if (problem.line != 0)
        text += fmt::format(":{}:{}", problem.line, problem.column);
    text += ": ";
    if (!problem.key.empty())
        text += problem.key + ": ";
    return text + problem.what;
}

LoadedConfiguration ConfigurationSource::load() const {
    Configuration configuration;
    ProblemList problems(file_ ? file_->string() : "");
    if (file_)
        load_file(*file_, configuration, problems);
    override_by(flags_, configuration);
    LoadedConfiguration loaded;
    loaded.problems = problems.take();
    if (loaded.problems.empty())
        loaded.configuration = std::move(configuration);
    return loaded;
}

}  // namespace ringmain::daemon
