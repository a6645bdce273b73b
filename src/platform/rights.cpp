// Who may use a directory of files: owner, group and permission bits.
#include "platform/rights.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "platform/descriptor.hpp"
#include "platform/files.hpp"
#include "platform/no_links.hpp"
#include "platform/system_failure.hpp"

namespace ringmain::platform {

namespace {

constexpr ::mode_t kFileBits = 0666;
constexpr ::mode_t kOwnerBits = 0700;

struct stat status_of(const Descriptor& file, const std::filesystem::path& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0)
        throw system_failure("look at", path, errno);
    return status;
}

/// Through the open directory, so that nothing that is put in its place meanwhile is changed.
void own(const Descriptor& directory, const char* name, int flags, const TopicAccess& access,
         const std::filesystem::path& path) {
    if (!access.owner && !access.group)
        return;
    const ::uid_t owner = access.owner.value_or(static_cast<::uid_t>(-1));
    const ::gid_t group = access.group.value_or(static_cast<::gid_t>(-1));
    if (::fchownat(directory.get(), name, owner, group, flags) != 0)
        throw system_failure("change owner or group of", path, errno);
}

/// The owner may always enter, list and change; others enter where they may read or write.
::mode_t directory_mode(::mode_t file_mode, ::mode_t now) noexcept {
    const ::mode_t used = (file_mode & 0444U) | (file_mode & 0222U) << 1;
    return file_mode | used >> 2 | kOwnerBits | (now & S_ISGID);
}

void change_mode(const Descriptor& opened, ::mode_t mode, const std::filesystem::path& path) {
    if (::chmod(path_of(opened).c_str(), mode) != 0)
        throw system_failure("set the mode of", path, errno);
}

void give_directory(const Descriptor& opened, const TopicAccess& access, const std::filesystem::path& directory, int levels);

void give_inner(const Descriptor& directory, const std::string& name, const TopicAccess& access,
                const std::filesystem::path& path, int levels) {
    const Descriptor inner = open_in(directory, name, O_RDONLY | O_DIRECTORY);
    if (!inner)
        throw system_failure("open", path, errno);
    give_directory(inner, access, path, levels);
}

/// What is neither a directory nor a file, or a file that has a name elsewhere too, is not the topic's: its maker may have no
/// right to the other one. Nor is what is gone since it was listed.
void give_name(const Descriptor& directory, const std::string& name, const TopicAccess& access,
               const std::filesystem::path& path, int levels) try {
    const Descriptor file = open_in(directory, name, O_PATH);
    if (!file)
        throw system_failure("open", path, errno);
    const struct stat status = status_of(file, path);
    if (S_ISDIR(status.st_mode) && levels > 0)
        return give_inner(directory, name, access, path, levels);
    if (!S_ISREG(status.st_mode) || status.st_nlink > 1)
        return;
    own(file, "", AT_EMPTY_PATH, access, path);
    if (access.mode)
        change_mode(file, static_cast<::mode_t>(*access.mode), path);
} catch (const Error& error) {
    if (error.code() != ErrorCode::not_found)
        throw;
}

void give_itself(const Descriptor& opened, const TopicAccess& access, const std::filesystem::path& directory) {
    own(opened, "", AT_EMPTY_PATH, access, directory);
    if (!access.mode)
        return;
    const ::mode_t mode = directory_mode(static_cast<::mode_t>(*access.mode), status_of(opened, directory).st_mode);
    if (::fchmod(opened.get(), mode) != 0)
        throw system_failure("set the mode of", directory, errno);
}

void give_directory(const Descriptor& opened, const TopicAccess& access, const std::filesystem::path& directory, int levels) {
    for (const std::string& name : names_in_opened(opened, directory))
        give_name(opened, name, access, directory / name, levels - 1);
    give_itself(opened, access, directory);
}

}  // namespace

TopicAccess rights_of(const std::filesystem::path& path) {
    const auto status = status_without_links(path);
    if (!status)
        throw system_failure("look at", path, errno);
    return {status->st_uid, status->st_gid, status->st_mode & 0777U};
}

namespace {

Descriptor open_to_change(const std::filesystem::path& directory) {
    return open_file(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

void set_rights(const std::filesystem::path& directory, const TopicAccess& access) {
    give_directory(open_to_change(directory), access, directory, kDirectoryLevels);
}

bool set_rights_of(const std::filesystem::path& directory, const char* file, const FileIdentity& identity,
                   const TopicAccess& access) {
    const Descriptor opened = open_to_change(directory);
    struct stat status {};
    if (::fstatat(opened.get(), file, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        FileIdentity{status.st_dev, status.st_ino} != identity)
        return false;
    give_directory(opened, access, directory, kDirectoryLevels);
    return true;
}

void set_rights_of_directory(const std::filesystem::path& directory, const TopicAccess& access) {
    give_itself(open_to_change(directory), access, directory);
}

void set_rights_of_file(const std::filesystem::path& path, const TopicAccess& access) {
    const Descriptor directory = open_file(path.parent_path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    give_name(directory, path.filename().string(), access, path, 0);
}

void set_mode(const std::filesystem::path& path, std::uint32_t mode) {
    const Descriptor opened = open_file(path, O_PATH | O_NOFOLLOW);
    if (S_ISLNK(status_of(opened, path).st_mode))
        throw system_failure("set the mode of", path, ELOOP);
    change_mode(opened, static_cast<::mode_t>(mode), path);
}

std::uint32_t make_private(const std::filesystem::path& directory) {
    const Descriptor opened = open_file(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    const ::mode_t mode = status_of(opened, directory).st_mode;
    if (::fchmod(opened.get(), (mode & S_ISGID) | kOwnerBits) != 0)
        throw system_failure("set the mode of", directory, errno);
    return mode & kFileBits;
}

}  // namespace ringmain::platform
