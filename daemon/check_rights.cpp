// Whether this process could give files the rights that a configuration wants for them: the kernel is asked with a file
// that has no name, so that its answer is the one that a daemon would get (capabilities, groups, user namespaces).
#include "check_rights.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "platform/descriptor.hpp"

namespace ringmain::daemon {

namespace {

using platform::Descriptor;

Descriptor nameless_file() {
    return Descriptor(platform::beyond_streams(::memfd_create("ringmaind-check", MFD_CLOEXEC)));
}

/// 0: it can be done. Who cannot ask is not told no.
int failure_to_own(std::optional<std::uint32_t> owner, std::optional<std::uint32_t> group) {
    const Descriptor file = nameless_file();
    if (!file)
        return 0;
    const auto uid = owner.value_or(static_cast<::uid_t>(-1));
    const auto gid = group.value_or(static_cast<::gid_t>(-1));
    return ::fchown(file.get(), uid, gid) == 0 ? 0 : errno;
}

/// Whether this process may change files of other users: whoever may give files away may do so.
bool is_privileged() {
    constexpr std::uint32_t kAnotherUser = 1;
    return failure_to_own(::geteuid() == kAnotherUser ? 0 : kAnotherUser, {}) == 0;
}

std::string refusal(const std::string& what, int failure) {
    const std::string why =
        failure == EINVAL ? std::string("this user namespace does not know it") : std::strerror(failure);
    return fmt::format("user {} may not give files to {}: {} (it takes root, or CAP_CHOWN)", ::geteuid(), what, why);
}

}  // namespace

std::optional<std::string> why_not_give(const TopicAccess& access) {
    if (const int failure = access.owner ? failure_to_own(access.owner, {}) : 0; failure != 0)
        return refusal(fmt::format("user {}", *access.owner), failure);
    if (const int failure = access.group ? failure_to_own({}, access.group) : 0; failure != 0)
        return refusal(fmt::format("group {}", *access.group), failure);
    return std::nullopt;
}

std::optional<std::string> why_not_change(const std::filesystem::path& path, const TopicAccess& found,
                                          const TopicAccess& access) {
    TopicAccess other;  // what is not there yet
    if (access.owner != found.owner)
        other.owner = access.owner;
    if (access.group != found.group)
        other.group = access.group;
    const bool is_other_mode = access.mode && access.mode != found.mode;
    if (!other.owner && !other.group && !is_other_mode)
        return std::nullopt;
    if (found.owner != ::geteuid() && !is_privileged())
        return fmt::format("user {} may not change the rights of '{}', which belongs to user {}", ::geteuid(),
                           path.string(), found.owner.value_or(0));
    return why_not_give(other);
}

std::optional<std::string> why_not_make_in(const std::filesystem::path& directory) {
    if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0)
        return std::nullopt;
    return fmt::format("user {} can make nothing in '{}': {}", ::geteuid(), directory.string(), std::strerror(errno));
}

}  // namespace ringmain::daemon
