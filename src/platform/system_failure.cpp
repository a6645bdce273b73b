// What a failed system call is called in ringmain::Error.
#include "platform/system_failure.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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

// "read, write or enter": what this process may not do with the file.
std::string missing_rights(const std::filesystem::path& path, bool is_directory) {
    struct Right {
        int bit;
        const char* name;
    };
    std::string missing;
    for (const Right& right : {Right{R_OK, "read"}, Right{W_OK, "write"}, Right{X_OK, "enter"}}) {
        if (right.bit == X_OK && !is_directory)
            continue;
        if (::faccessat(AT_FDCWD, path.c_str(), right.bit, AT_EACCESS) != 0)
            missing.append(missing.empty() ? "" : " or ").append(right.name);
    }
    return missing;
}

// Which file refused, and why: the path itself, or the closest directory above it that can be looked at.
std::string refusal_of(std::filesystem::path path) {
    struct stat status {};
    while (::stat(path.c_str(), &status) != 0) {
        const std::filesystem::path above = path.parent_path();
        if (above.empty() || above == path)
            return {};
        path = above;
    }
    std::array<char, 16> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(status.st_mode & 07777U));
    std::string text = "'" + path.string() + "' belongs to uid " + std::to_string(status.st_uid);
    text.append(" gid ").append(std::to_string(status.st_gid)).append(", mode ").append(mode.data());
    text.append("; this process is uid ").append(std::to_string(::geteuid()));
    text.append(" gid ").append(std::to_string(::getegid()));
    if (const std::string missing = missing_rights(path, S_ISDIR(status.st_mode)); !missing.empty())
        text.append(" and may not ").append(missing).append(" it");
    return text;
}

bool lacks_inodes(const std::filesystem::path& directory) noexcept {
    struct statvfs status {};
    return ::statvfs(directory.c_str(), &status) == 0 && status.f_files != 0 && status.f_favail == 0;
}

}  // namespace

Error system_failure(std::string_view action, const std::filesystem::path& path, int error) {
    const ErrorCode code = code_of(error);
    std::string message("cannot ");
    message.append(action).append(" '").append(path.string()).append("'");
    if (code == ErrorCode::permission_denied) {
        if (const std::string refusal = refusal_of(path); !refusal.empty())
            message.append(" (").append(refusal).append(")");
    }
    if (error == ELOOP)
        message.append(" (a symbolic link lies on the way, and none is followed)");
    if (error == ENOSPC && lacks_inodes(path.parent_path()))
        message.append(" (the file system has no inode left for another file)");
    return Error(code, path.string(), message, error);
}

}  // namespace ringmain::platform
