// Who may change what over the socket.
#include "api_rights.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "platform/no_links.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"

namespace ringmain::daemon {

namespace {

constexpr unsigned kEnter = 01;
constexpr unsigned kWrite = 02;
constexpr unsigned kReadWrite = 06;
constexpr unsigned kWriteEnter = 03;

using platform::status_without_links;

// As the kernel decides it by the mode alone. Access control lists are not asked: whom they let in does it without the
// daemon.
bool may(const Peer& peer, const struct stat& status, unsigned wanted) {
    unsigned granted = status.st_mode & 07U;
    if (peer.is_known && peer.uid == status.st_uid)
        granted = (status.st_mode >> 6U) & 07U;
    else if (peer.is_in(status.st_gid))
        granted = (status.st_mode >> 3U) & 07U;
    return (granted & wanted) == wanted;
}

bool may(const Peer& peer, const std::filesystem::path& path, unsigned wanted) {
    const auto status = status_without_links(path);
    return status && may(peer, *status, wanted);
}

// In a sticky directory, only by the owner of what is in it, and its own.
bool may_remove(const Peer& peer, const std::filesystem::path& from, const struct stat& what) {
    const auto above = status_without_links(from);
    const bool is_sticky = above && (above->st_mode & S_ISVTX) != 0;
    const bool owns = above && peer.is_known && (peer.uid == what.st_uid || peer.uid == above->st_uid);
    return above && may(peer, *above, kWriteEnter) && (!is_sticky || owns);
}

/// A topic's directory and the file in it that says which topic it is: those of the topic that is open, not of another
/// one that has its name by now.
struct OwnRights {
    struct stat directory {};
    struct stat meta {};
};

OwnRights look_at(const TopicFiles& topic) {
    const platform::Descriptor directory(platform::open_without_links(topic.directory(), O_PATH | O_DIRECTORY));
    const std::filesystem::path meta = meta_path(topic.directory());
    OwnRights rights;
    if (directory && ::fstat(directory.get(), &rights.directory) == 0 &&
        ::fstatat(directory.get(), meta.filename().c_str(), &rights.meta, AT_SYMLINK_NOFOLLOW) == 0) {
        for (const TopicFiles::SharedFile& file : topic.shared_files()) {
            if (file.path == meta && file.identity == platform::FileIdentity{rights.meta.st_dev, rights.meta.st_ino})
                return rights;
        }
    }
    throw Error(ErrorCode::not_found, topic.name(), "topic '" + topic.name() + "' was removed or replaced meanwhile");
}

}  // namespace

bool ApiRights::administers(const Peer& peer) const {
    if (admin_group_ && peer.is_in(*admin_group_))
        return true;
    const auto directory = status_without_links(broker_);
    return peer.is_known && (peer.uid == 0 || peer.uid == ::geteuid() || (directory && directory->st_uid == peer.uid));
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

void ApiRights::check_deletion(const Peer& peer, const TopicFiles& topic) const {
    const OwnRights rights = look_at(topic);
    const bool may_itself = may(peer, rights.meta, kReadWrite) && may(peer, rights.directory, kEnter) &&
                            may_remove(peer, topics_path(broker_), rights.directory) &&
                            may(peer, clients_path(broker_), kReadWrite);
    if (!administers(peer) && !may_itself)
        refuse(peer, "delete", topic.name(),
               "the right to write '" + topic.directory().string() + "' and what it lies in");
}

void ApiRights::check_writing(const Peer& peer, const TopicFiles& topic) const {
    const OwnRights rights = look_at(topic);
    if (!administers(peer) && !(may(peer, rights.meta, kWrite) && may(peer, rights.directory, kEnter)))
        refuse(peer, "change", topic.name(), "the right to write its files");
}

void ApiRights::check_access(const Peer& peer, const TopicFiles& topic, const TopicAccess& access) const {
    const OwnRights rights = look_at(topic);
    if (administers(peer))
        return;
    if (!peer.is_known || rights.directory.st_uid != peer.uid)
        refuse(peer, "change the access to", topic.name(), "to be its owner");
    check_gift(peer, topic.name(), access);
}

void ApiRights::check_gift(const Peer& peer, std::string_view topic, const TopicAccess& access) const {
    if (access.owner && (!peer.is_known || *access.owner != peer.uid))
        refuse(peer, "give to user " + std::to_string(*access.owner), topic, "to be that user");
    if (access.group && !peer.is_in(*access.group))
        refuse(peer, "give to group " + std::to_string(*access.group), topic, "to be in that group");
}

void ApiRights::refuse(const Peer& peer, std::string_view what, std::string_view topic, std::string_view needed) const {
    std::string text = "user " + std::to_string(peer.uid);
    text.append(peer.is_known ? " may not " : " (of another user namespace: nobody is known by that number) may not ");
    text.append(what).append(" topic '").append(topic).append("' in '").append(broker_.string()).append("': it takes ");
    text.append(needed).append(", or to be root, the daemon's user ").append(std::to_string(::geteuid()));
    if (const auto directory = status_without_links(broker_))
        text.append(", the owner ").append(std::to_string(directory->st_uid)).append(" of the directory");
    if (admin_group_)
        text.append(", or in the admin group ").append(std::to_string(*admin_group_));
    throw Error(ErrorCode::permission_denied, std::string(topic), text);
}

}  // namespace ringmain::daemon
