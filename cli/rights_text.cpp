// Users, groups and permission bits as people write and read them.
#include "cli/rights_text.hpp"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <cerrno>
#include <charconv>
#include <vector>

namespace ringmain::cli {

namespace {

constexpr std::size_t kEntryBytes = 4096;
constexpr std::size_t kEntryBytesMax = std::size_t{1} << 20;  // a group with very many members

/// Calls getpwnam_r and the like with as much room as it needs.
template <class Key, class Entry, class Look>
bool look_up(Key key, Entry& entry, std::vector<char>& room, const Look& look) {
    Entry* found = nullptr;
    for (std::size_t bytes = kEntryBytes; bytes <= kEntryBytesMax; bytes *= 4) {
        room.resize(bytes);
        if (look(key, &entry, room.data(), room.size(), &found) != ERANGE)
            break;
    }
    return found != nullptr;
}

std::string account_to_text(std::uint32_t id, const std::optional<std::string>& name) {
    return name ? fmt::format("{} ({})", *name, id) : std::to_string(id);
}

std::optional<std::string> user_name(std::uint32_t id) {
    passwd entry{};
    std::vector<char> room;
    if (!look_up(id, entry, room, ::getpwuid_r))
        return std::nullopt;
    return entry.pw_name;
}

std::optional<std::string> group_name(std::uint32_t id) {
    group entry{};
    std::vector<char> room;
    if (!look_up(id, entry, room, ::getgrgid_r))
        return std::nullopt;
    return entry.gr_name;
}

}  // namespace

std::optional<std::uint32_t> user_id(const std::string& name) {
    passwd entry{};
    std::vector<char> room;
    if (!look_up(name.c_str(), entry, room, ::getpwnam_r))
        return std::nullopt;
    return entry.pw_uid;
}

std::optional<std::uint32_t> group_id(const std::string& name) {
    group entry{};
    std::vector<char> room;
    if (!look_up(name.c_str(), entry, room, ::getgrnam_r))
        return std::nullopt;
    return entry.gr_gid;
}

std::optional<std::uint32_t> parse_mode(std::string_view text) noexcept {
    std::uint32_t mode = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, mode, 8);
    if (text.empty() || error != std::errc{} || after != end)
        return std::nullopt;
    return mode;
}

std::string mode_to_text(std::uint32_t mode) { return fmt::format("{:04o}", mode); }

std::string rights_to_text(const TopicAccess& access) {
    std::string text;
    const auto add = [&text](std::string_view what, const std::string& value) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
    };
    if (access.owner)
        add("owner", account_to_text(*access.owner, user_name(*access.owner)));
    if (access.group)
        add("group", account_to_text(*access.group, group_name(*access.group)));
    if (access.mode)
        add("mode", mode_to_text(*access.mode));
    return text;
}

std::string access_line(const TopicAccess& access) {
    return fmt::format("access            {}\n", rights_to_text(access));
}

}  // namespace ringmain::cli
