// Who may change what over the socket.
#include "api_rights.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "ringmain/error.hpp"
#include "topic_paths.hpp"

namespace ringmain::daemon {

namespace {

constexpr unsigned kWrite = 02;
constexpr unsigned kReadWrite = 06;
constexpr unsigned kWriteEnter = 03;

std::optional<struct stat> look_at(const std::filesystem::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

// As the kernel decides it by the mode alone. Access control lists are not asked: whom they let in does it without the
// daemon.
bool may(const Peer& peer, const std::filesystem::path& path, unsigned wanted) {
    const auto status = look_at(path);
    if (!status)
        return false;
    unsigned granted = status->st_mode & 07U;
    if (peer.uid == status->st_uid)
        granted = (status->st_mode >> 6U) & 07U;
    else if (peer.is_in(status->st_gid))
        granted = (status->st_mode >> 3U) & 07U;
    return (granted & wanted) == wanted;
}

// In a sticky directory, only by the owner of what is in it, and its own.
bool may_remove(const Peer& peer, const std::filesystem::path& path) {
    const auto above = look_at(path.parent_path());
    const auto status = look_at(path);
    const bool is_sticky = above && (above->st_mode & S_ISVTX) != 0;
    const bool owns = above && status && (peer.uid == status->st_uid || peer.uid == above->st_uid);
    return may(peer, path.parent_path(), kWriteEnter) && (!is_sticky || owns);
}

}  // namespace

std::filesystem::path ApiRights::topic_path(std::string_view topic) const { return topics_path(broker_) / topic; }

bool ApiRights::administers(const Peer& peer) const {
    if (peer.uid == 0 || peer.uid == ::geteuid() || (admin_group_ && peer.is_in(*admin_group_)))
        return true;
    const auto directory = look_at(broker_);
    return directory && directory->st_uid == peer.uid;
}

bool ApiRights::may_create_himself(const Peer& peer) const {
    return may(peer, topics_path(broker_), kWriteEnter) && may(peer, staging_path(broker_), kWriteEnter) &&
           may(peer, clients_path(broker_), kReadWrite);
}

void ApiRights::check_creation(const Peer& peer, std::string_view topic, const TopicAccess& access) const {
    if (administers(peer))
        return;
    if (!may_create_himself(peer))
        refuse(peer, "create", topic, "the right to write '" + topics_path(broker_).string() + "'");
    check_gift(peer, topic, access);
}

void ApiRights::check_deletion(const Peer& peer, std::string_view topic) const {
    const std::filesystem::path path = topic_path(topic);
    const bool may_itself = may(peer, meta_path(path), kReadWrite) && may_remove(peer, path) &&
                            may(peer, clients_path(broker_), kReadWrite);
    if (!administers(peer) && !may_itself)
        refuse(peer, "delete", topic, "the right to write '" + path.string() + "' and what it lies in");
}

void ApiRights::check_writing(const Peer& peer, std::string_view topic) const {
    if (!administers(peer) && !may(peer, meta_path(topic_path(topic)), kWrite))
        refuse(peer, "change", topic, "the right to write its files");
}

void ApiRights::check_access(const Peer& peer, std::string_view topic, const TopicAccess& access) const {
    if (administers(peer))
        return;
    const auto status = look_at(topic_path(topic));
    if (!status || status->st_uid != peer.uid)
        refuse(peer, "change the access to", topic, "to be its owner");
    check_gift(peer, topic, access);
}

void ApiRights::check_gift(const Peer& peer, std::string_view topic, const TopicAccess& access) const {
    if (access.owner && *access.owner != peer.uid)
        refuse(peer, "give to user " + std::to_string(*access.owner), topic, "to be that user");
    if (access.group && !peer.is_in(*access.group))
        refuse(peer, "give to group " + std::to_string(*access.group), topic, "to be in that group");
}

void ApiRights::refuse(const Peer& peer, std::string_view what, std::string_view topic, std::string_view needed) const {
    std::string text = "user " + std::to_string(peer.uid) + " may not ";
    text.append(what).append(" topic '").append(topic).append("' in '").append(broker_.string()).append("': it takes ");
    text.append(needed).append(", or to be root, the daemon's user ").append(std::to_string(::geteuid()));
    if (const auto directory = look_at(broker_))
        text.append(", the owner ").append(std::to_string(directory->st_uid)).append(" of the directory");
    if (admin_group_)
        text.append(", or in the admin group ").append(std::to_string(*admin_group_));
    throw Error(ErrorCode::permission_denied, std::string(topic), text);
}

}  // namespace ringmain::daemon
