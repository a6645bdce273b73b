// What a failed system call is called in ringmain::Error.
#include "platform/system_failure.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

namespace ringmain::platform {

namespace {

ErrorCode code_of(int error) noexcept {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return ErrorCode::not_found;
        case EACCES:
        case EPERM:
        case EROFS:
            return ErrorCode::permission_denied;
        case ENOSPC:
        case EDQUOT:
            return ErrorCode::no_space;
        case EMFILE:
        case ENFILE:
            return ErrorCode::limit;
        case EEXIST:
            return ErrorCode::already_exists;
        default:
            return ErrorCode::io;
    }
}

// Which file refused: the path itself, or the closest directory above it that can be looked at.
std::string owner_and_mode(std::filesystem::path path) {
    struct stat status {};
    while (::stat(path.c_str(), &status) != 0) {
        const std::filesystem::path above = path.parent_path();
        if (above.empty() || above == path)
            return {};
        path = above;
    }
    std::array<char, 16> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(status.st_mode & 07777U));
    return "'" + path.string() + "' belongs to uid " + std::to_string(status.st_uid) + " gid " +
           std::to_string(status.st_gid) + ", mode " + mode.data() + "; this process is uid " +
           std::to_string(::geteuid());
}

}  // namespace

Error system_failure(std::string_view action, const std::filesystem::path& path, int error) {
    const ErrorCode code = code_of(error);
    std::string message = "cannot " + std::string(action) + " '" + path.string() + "'";
    if (code == ErrorCode::permission_denied) {
        if (const std::string refused = owner_and_mode(path); !refused.empty())
            message += " (" + refused + ")";
    }
    return Error(code, path.string(), message, error);
}

}  // namespace ringmain::platform
