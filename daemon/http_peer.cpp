// Who is at the other end of a connection.
#include "http_peer.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace ringmain::daemon {

std::optional<Peer> peer_of(int socket) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
        return std::nullopt;
    Peer peer{credentials.uid, credentials.gid, {}};
    constexpr std::size_t kGroupsAtFirst = 64;
    peer.groups.resize(kGroupsAtFirst);
    for (;;) {
        size = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
        const int failed = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &size);
        peer.groups.resize(failed != 0 && errno != ERANGE ? 0 : size / sizeof(gid_t));
        if (failed == 0 || errno != ERANGE)
            return peer;
    }
}

}  // namespace ringmain::daemon
