// Who is at the other end of a connection.
#include "http_peer.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <utility>

namespace ringmain::daemon {

namespace {

constexpr gid_t kNoGroup = static_cast<gid_t>(-1);  // no group has it

/// What the kernel says instead of a number that the user namespace does not have; nothing: it has all.
std::optional<std::uint32_t> stand_in(const char* map_file, const char* number_file) {
    constexpr std::uint64_t kAll = 0xffff'ffff;
    std::ifstream map(map_file);
    std::uint64_t first = 0;
    std::uint64_t there = 0;
    for (std::uint64_t count = 0; map >> first >> there >> count;) {
        if (count == kAll)
            return std::nullopt;
    }
    constexpr std::uint32_t kUsual = 65'534;
    std::uint32_t number = kUsual;
    std::ifstream(number_file) >> number;
    return number;
}

/// A process's user namespace stays.
const std::optional<std::uint32_t>& unknown_user() {
    static const auto number = stand_in("/proc/self/uid_map", "/proc/sys/kernel/overflowuid");
    return number;
}

const std::optional<std::uint32_t>& unknown_group() {
    static const auto number = stand_in("/proc/self/gid_map", "/proc/sys/kernel/overflowgid");
    return number;
}

Peer recognised(Peer peer) {
    peer.is_known = peer.uid != unknown_user();
    if (peer.gid == unknown_group())
        peer.gid = kNoGroup;
    std::erase_if(peer.groups, [](gid_t group) { return group == unknown_group(); });
    return peer;
}

}  // namespace

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
            return recognised(std::move(peer));
    }
}

}  // namespace ringmain::daemon
