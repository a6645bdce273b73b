// Who is at the other end of a connection.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace ringmain::daemon {

/// As the kernel tells it of a Unix socket: the user who connected, whatever he says. No pid: it can be another
/// process's by now.
struct Peer {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;  ///< The others.
    /// False: a user that this process's user namespace has no number for. `uid` is then one that all such users have, as
    /// all their files do: nobody is recognised by it. Groups of that kind are left out.
    bool is_known = true;

    [[nodiscard]] bool is_in(gid_t group) const noexcept {
        return gid == group || std::find(groups.begin(), groups.end(), group) != groups.end();
    }
};

/// For what is counted and shared out by user; nothing: all who come over a port together.
using PeerUser = std::optional<uid_t>;
[[nodiscard]] inline PeerUser user_of(const std::optional<Peer>& peer) {
    return peer ? PeerUser(peer->uid) : std::nullopt;
}

/// Nothing: the kernel does not tell.
[[nodiscard]] std::optional<Peer> peer_of(int socket);

}  // namespace ringmain::daemon
