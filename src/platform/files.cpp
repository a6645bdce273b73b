// Making, moving and removing files and directories.
#include "platform/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "platform/descriptor.hpp"
#include "platform/system_failure.hpp"

namespace ringmain::platform {

namespace {

// A signal undoes what the interrupted call had allocated; in pieces, even a steady timer signal cannot stop the whole.
constexpr std::uint64_t kAllocationPiece = std::uint64_t{64} << 20;
constexpr std::uint64_t kTouchBytes = 4096;  // the smallest page of any supported machine

// Files on hugetlbfs are whole huge pages: a size in between would grow when the file is mapped, and no longer be the one
// that its stamp names.
std::uint64_t whole_pages(const Descriptor& file, const std::filesystem::path& path, std::uint64_t bytes) {
    struct statfs system {};
    if (::fstatfs(file.get(), &system) != 0)
        throw system_failure("look at the file system of", path, errno);
    if (static_cast<std::uint64_t>(system.f_type) != HUGETLBFS_MAGIC)
        return bytes;
    const auto page = static_cast<std::uint64_t>(system.f_bsize);
    return (bytes + page - 1) / page * page;
}

void allocate(const Descriptor& file, const std::filesystem::path& path, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes;) {
        const std::uint64_t piece = std::min(kAllocationPiece, bytes - at);
        const int error = ::posix_fallocate(file.get(), static_cast<off_t>(at), static_cast<off_t>(piece));
        if (error == EINTR)
            continue;
        if (error != 0)
            throw system_failure("allocate " + std::to_string(bytes) + " bytes for", path, error);
        at += piece;
    }
}

// Allocated blocks of a disk file system still have no page; a page that is written now never faults for want of
// memory.
void touch_every_page(const Mapping& mapping) noexcept {
    for (std::uint64_t at = 0; at < mapping.size(); at += kTouchBytes) {
        *const_cast<volatile std::byte*>(mapping.data() + at) = std::byte{0};
    }
}

void set_mode(const Descriptor& file, const std::filesystem::path& path, Mode mode) {
    if (::fchmod(file.get(), mode) != 0)
        throw system_failure("set the mode of", path, errno);
}

struct DirectoryCloser {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

Mapping create_file(const std::filesystem::path& path, std::uint64_t bytes, Mode mode) {
    int fd = -1;
    do {
        fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0)
        throw system_failure("create", path, errno);
    const Descriptor file(fd);
    try {
        set_mode(file, path, mode);
        const std::uint64_t size = whole_pages(file, path, bytes);
        allocate(file, path, size);
        Mapping mapping(path, Access::read_write, size);
        touch_every_page(mapping);
        return mapping;
    } catch (...) {
        remove_file(path);
        throw;
    }
}

bool create_directory(const std::filesystem::path& path, Mode mode) {
    if (::mkdir(path.c_str(), mode) != 0) {
        if (errno == EEXIST)
            return false;
        throw system_failure("create the directory", path, errno);
    }
    if (::chmod(path.c_str(), mode) != 0)
        throw system_failure("set the mode of", path, errno);
    return true;
}

bool link_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    if (::link(from.c_str(), to.c_str()) == 0)
        return true;
    if (errno == EEXIST)
        return false;
    throw system_failure("create", to, errno);
}

RenameResult rename_directory(const std::filesystem::path& from, const std::filesystem::path& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
        return RenameResult::renamed;
    // A file system without the flag: a plain rename of a directory replaces nothing but an empty directory, and no
    // directory with a meaning of ours is empty.
    if (errno == EINVAL || errno == ENOSYS) {
        if (::rename(from.c_str(), to.c_str()) == 0)
            return RenameResult::renamed;
    }
    switch (errno) {
        case EEXIST:
        case ENOTEMPTY:
        case ENOTDIR:
            return RenameResult::target_exists;
        case ENOENT:
            return RenameResult::source_missing;
        default:
            throw system_failure("rename '" + from.string() + "' to", to, errno);
    }
}

bool remove_file(const std::filesystem::path& path) noexcept { return ::unlink(path.c_str()) == 0 || errno == ENOENT; }

bool remove_directory(const std::filesystem::path& path) noexcept {
    try {
        for (const std::string& name : names_in(path))
            remove_file(path / name);
    } catch (const std::bad_alloc&) {
        return false;  // the next sweep tries again
    }
    return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

void sync_path(const std::filesystem::path& path) noexcept {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    ::fsync(fd);
    ::close(fd);
}

std::vector<std::string> names_in(const std::filesystem::path& directory) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, DirectoryCloser> stream(::opendir(directory.c_str()));
    if (!stream)
        return names;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            names.emplace_back(name);
    }
    return names;
}

PathKind kind_of(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return PathKind::absent;
        throw system_failure("look at", path, errno);
    }
    if (S_ISREG(status.st_mode))
        return PathKind::file;
    return S_ISDIR(status.st_mode) ? PathKind::directory : PathKind::other;
}

std::optional<std::uint64_t> free_bytes(const std::filesystem::path& path) noexcept {
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0)
        return std::nullopt;
    return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace ringmain::platform
