// What a daemon is told to do: the values of its file and its flags.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "http_sockets.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::daemon {

enum class LogFormat : std::uint8_t { text, json };
enum class LogLevel : std::uint8_t { debug, info, warning, error };

/// What the topics of the broker may take together; nothing: as much as there is.
struct Quotas {
    std::optional<std::uint64_t> bytes;        ///< Of all topics.
    std::optional<std::uint64_t> topics;       ///< How many topics.
    std::optional<std::uint64_t> topic_bytes;  ///< Of each topic.
    friend bool operator==(const Quotas&, const Quotas&) = default;
};

/// Where metrics are served besides the socket in the broker directory.
struct ListenAddress {
    std::string host;  ///< A loopback address.
    std::uint16_t port = 0;
    friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// Who may use the daemon's socket, and for what. Applied when the daemon starts, but for the admin group.
struct SocketSettings {
    SocketAccess access = {};                       ///< Who may connect, and so look at everything.
    std::optional<std::uint32_t> admin_group = {};  ///< Whose members may change everything.
    friend bool operator==(const SocketSettings&, const SocketSettings&) = default;
};

/// A topic that is to exist.
struct TopicPlan {
    std::string name;
    TopicOptions options;
    friend bool operator==(const TopicPlan&, const TopicPlan&) = default;
};

struct Configuration {
    std::filesystem::path directory;
    /// Of the broker directory itself: applied when the daemon starts. The mode is that of a directory, up to 07777.
    TopicAccess directory_access = {};
    std::optional<std::uint32_t> umask = {};
    SocketSettings socket = {};  ///< Of keeper.sock in the broker directory.
    std::optional<ListenAddress> metrics_listen = {};
    std::chrono::milliseconds interval{10};
    LogFormat log_format = LogFormat::text;
    LogLevel log_level = LogLevel::info;
    std::chrono::milliseconds log_window{10'000};  ///< Lines of one kind and topic within it are counted, not repeated.
    Quotas quotas = {};
    TopicOptions defaults = {};          ///< For topics whose options are not all given.
    std::vector<TopicPlan> topics = {};  ///< Sorted by name.
};

}  // namespace ringmain::daemon
