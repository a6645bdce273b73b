// Users and groups by name or number.
#include "accounts.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <cerrno>
#include <vector>

namespace ringmain::daemon {

namespace {

constexpr std::size_t kEntryBytes = 4096;
constexpr std::size_t kEntryBytesMax = std::size_t{1} << 20;  // a group with very many members

/// Calls getpwnam_r or getgrnam_r with as much room as it needs.
template <class Entry, class Look>
bool look_up(const std::string& name, Entry& entry, std::vector<char>& room, const Look& look) {
    Entry* found = nullptr;
    for (std::size_t bytes = kEntryBytes; bytes <= kEntryBytesMax; bytes *= 4) {
        room.resize(bytes);
        if (look(name.c_str(), &entry, room.data(), room.size(), &found) != ERANGE)
            break;
    }
    return found != nullptr;
}

}  // namespace

std::optional<std::uint32_t> user_id(const std::string& name) {
    passwd entry{};
    std::vector<char> room;
    if (!look_up(name, entry, room, ::getpwnam_r))
        return std::nullopt;
    return entry.pw_uid;
}

std::optional<std::uint32_t> group_id(const std::string& name) {
    group entry{};
    std::vector<char> room;
    if (!look_up(name, entry, room, ::getgrnam_r))
        return std::nullopt;
    return entry.gr_gid;
}

}  // namespace ringmain::daemon
