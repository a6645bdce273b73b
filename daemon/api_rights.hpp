// Who may change what over the socket.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "http_peer.hpp"
#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain::daemon {

/// Those who administer: root, the daemon's own user, the owner of the broker directory and the members of the admin
/// group may change everything. Anybody else may change what he could change without the daemon, by the rights of the
/// files alone. Every check throws Error permission_denied (names the user, and what would be needed) unless it holds.
class ApiRights {
public:
    ApiRights(const std::filesystem::path& broker, std::optional<std::uint32_t> admin_group)
        : broker_(broker), admin_group_(admin_group) {}

    /// A topic of that access: only those who administer may give it to others, or to groups that they are not in.
    void check_creation(const Peer& peer, std::string_view topic, const TopicAccess& access) const;
    // Of a topic that is open, which is then the one to be changed: another one may have its name at any moment. These throw
    // Error not_found if it has been removed or replaced.
    void check_deletion(const Peer& peer, const TopicFiles& topic) const;
    /// Its retention, and records of it.
    void check_writing(const Peer& peer, const TopicFiles& topic) const;
    void check_access(const Peer& peer, const TopicFiles& topic, const TopicAccess& access) const;

    [[nodiscard]] bool administers(const Peer& peer) const;
    /// By the rights of the directory.
    [[nodiscard]] bool may_create_himself(const Peer& peer) const;

private:
    void check_gift(const Peer& peer, std::string_view topic, const TopicAccess& access) const;
    [[noreturn]] void refuse(const Peer& peer, std::string_view what, std::string_view topic,
                             std::string_view needed) const;

    std::filesystem::path broker_;
    std::optional<std::uint32_t> admin_group_;
};

}  // namespace ringmain::daemon
