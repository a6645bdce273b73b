// The broker directory itself: made with the rights that the configuration gives it.
#include "broker_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "platform/rights.hpp"
#include "platform/system_failure.hpp"

namespace ringmain::daemon {

namespace {

namespace fs = std::filesystem;
using platform::system_failure;

constexpr std::array kDirectories = {"topics", "staging", "trash"};
constexpr std::array kLockFiles = {"clients", "keeper.lock", "topics.lock"};

bool give(const fs::path& path, const TopicAccess& access, std::optional<std::uint32_t> mode) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
        throw system_failure("look at", path, errno);
    const ::uid_t owner = access.owner.value_or(status.st_uid);
    const ::gid_t group = access.group.value_or(status.st_gid);
    const bool is_other = owner != status.st_uid || group != status.st_gid;
    if (is_other && ::lchown(path.c_str(), owner, group) != 0)
        throw system_failure("change owner or group of", path, errno);
    const ::mode_t wanted = mode.value_or(status.st_mode & 07777U);
    if (!is_other && wanted == (status.st_mode & 07777U))
        return false;
    platform::set_mode(path, wanted);
    return true;
}

/// Who may write the directory may write and read the file; nobody else has it.
std::optional<std::uint32_t> lock_file_mode(const std::optional<std::uint32_t>& directory_mode) {
    if (!directory_mode)
        return std::nullopt;
    const std::uint32_t writers = *directory_mode & 0222U;
    return writers | writers << 1 | 0600U;
}

}  // namespace

Broker open_place(const Configuration& configuration) {
    const bool is_private = configuration.directory_access != TopicAccess{};
    const ::mode_t before = is_private ? ::umask(0077) : 0;
    try {
        Broker broker(configuration.directory, Broker::Mode::open_or_create);
        if (is_private)
            ::umask(before);
        return broker;
    } catch (...) {
        if (is_private)
            ::umask(before);
        throw;
    }
}

bool set_directory_access(const fs::path& directory, const TopicAccess& access) {
    if (access == TopicAccess{})
        return false;
    bool changed = false;
    for (const char* const name : kDirectories)
        changed = give(directory / name, access, access.mode) || changed;
    for (const char* const name : kLockFiles)
        changed = give(directory / name, access, lock_file_mode(access.mode)) || changed;
    return give(directory, access, access.mode) || changed;  // last: until then a new one is nobody else's
}

}  // namespace ringmain::daemon
