// Making, moving and removing files and directories.
#include "platform/files.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>

#include "platform/descriptor.hpp"
#include "platform/no_links.hpp"
#include "platform/system_failure.hpp"

namespace ringmain::platform {

namespace {

// A signal undoes what the interrupted call had allocated; in pieces, even a steady timer signal cannot stop the whole.
constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kTouchBytes = 4096;  // the smallest page of any supported machine

// Files on hugetlbfs are whole huge pages: a size in between would grow when the file is mapped, and no longer be the
// one that its stamp names.
std::uint64_t whole_pages(const Descriptor& file, const std::filesystem::path& path, std::uint64_t bytes) {
    struct statfs system {};
    if (::fstatfs(file.get(), &system) != 0)
        throw system_failure("look at the file system of", path, errno);
    if (static_cast<std::uint64_t>(system.f_type) != HUGETLBFS_MAGIC)
        return bytes;
    const auto page = static_cast<std::uint64_t>(system.f_bsize);
    return (bytes + page - 1) / page * page;
}

void stop_if_told(const std::filesystem::path& path, const std::function<bool()>& stop) {
    if (stop && stop())
        throw Error(ErrorCode::interrupted, path.string(), "the making of '" + path.string() + "' was interrupted");
}

// `allocated`: what this file had got before there was no more.
Error no_space(const std::filesystem::path& path, std::uint64_t bytes, std::uint64_t allocated, int error) {
    const auto free = free_space(path.parent_path());
    return {ErrorCode::no_space, path.string(),
            "no space for '" + path.string() + "': " + std::to_string(bytes) + " bytes needed, " +
                (free ? std::to_string(free->bytes + allocated) : std::string("an unknown number")) + " free",
            error};
}

void allocate(const Descriptor& file, const std::filesystem::path& path, std::uint64_t bytes,
              const std::function<bool()>& stop) {
    for (std::uint64_t at = 0; at < bytes;) {
        stop_if_told(path, stop);
        const std::uint64_t piece = std::min(kPieceBytes, bytes - at);
        const int error = ::posix_fallocate(file.get(), static_cast<off_t>(at), static_cast<off_t>(piece));
        if (error == EINTR)
            continue;
        if (error == ENOSPC || error == EDQUOT)
            throw no_space(path, bytes, at, error);
        if (error != 0)
            throw system_failure("allocate " + std::to_string(bytes) + " bytes for", path, error);
        at += piece;
    }
}

// Allocated blocks of a disk file system still have no page; a page that is written now never faults for want of
// memory.
void touch_every_page(const Mapping& mapping, const std::filesystem::path& path, const std::function<bool()>& stop) {
    for (std::uint64_t at = 0; at < mapping.size(); at += kTouchBytes) {
        if (at % kPieceBytes == 0)
            stop_if_told(path, stop);
        *const_cast<volatile std::byte*>(mapping.data() + at) = std::byte{0};
    }
}

constexpr ::mode_t kGroupReads = 040;
constexpr ::mode_t kGroupWrites = 020;
constexpr ::mode_t kWriters = 0622;  // who may write by the umask gets the right to read afterwards

bool shares_with_group(const std::filesystem::path& directory) {
    const auto status = status_without_links(directory);
    return status && (status->st_mode & S_ISGID) != 0 && (status->st_mode & kGroupWrites) != 0;
}

// The umask has done its part when the file was opened. Nobody has a right for a moment that he is not to have.
void set_rights(const Descriptor& file, const std::filesystem::path& path, Readers readers) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0)
        throw system_failure("look at", path, errno);
    const ::mode_t made = status.st_mode & 07777U;
    ::mode_t wanted = made;
    if (shares_with_group(path.parent_path()))
        wanted |= kGroupReads | kGroupWrites;
    if (readers == Readers::writers_only)
        wanted |= (wanted & 0222U) << 1;
    if (wanted != made && ::fchmod(file.get(), wanted) != 0)
        throw system_failure("set the mode of", path, errno);
}

// Also for a directory that exists: its maker may have been killed before it did so.
void share_directory(const std::filesystem::path& path) {
    constexpr ::mode_t kGroupUses = 070;
    if (!shares_with_group(path.parent_path()))
        return;
    const Descriptor directory(open_without_links(path, O_RDONLY | O_DIRECTORY));
    struct stat status {};
    if (!directory || ::fstat(directory.get(), &status) != 0)
        return;
    const ::mode_t mode = status.st_mode & 07777U;
    if ((mode & kGroupUses) != kGroupUses && ::fchmod(directory.get(), mode | kGroupUses) != 0 && errno != EPERM)
        throw system_failure("set the mode of", path, errno);
}

}  // namespace

Mapping create_file(const std::filesystem::path& path, std::uint64_t bytes, Readers readers,
                    const std::function<bool()>& stop) {
    const Descriptor file =
        open_file(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, readers == Readers::writers_only ? kWriters : 0666);
    try {
        set_rights(file, path, readers);
        const std::uint64_t size = whole_pages(file, path, bytes);
        allocate(file, path, size, stop);
        Mapping mapping(path, Access::read_write, size);
        touch_every_page(mapping, path, stop);
        return mapping;
    } catch (...) {
        remove_file(path);
        throw;
    }
}

bool create_directory(const std::filesystem::path& path) {
    const Parent parent(path);
    const bool made = parent.fd() >= 0 && ::mkdirat(parent.fd(), parent.name(), 0777) == 0;
    if (!made && errno != EEXIST)
        throw system_failure("create the directory", path, errno);
    share_directory(path);
    return made;
}

bool link_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    const Parent target(to);
    if (target.fd() >= 0) {
        const Parent source(from);
        if (source.fd() >= 0 && ::linkat(source.fd(), source.name(), target.fd(), target.name(), 0) == 0)
            return true;
    }
    if (errno == EEXIST)
        return false;
    throw system_failure("create", to, errno);
}

namespace {

// False, and errno tells, on failure. On a file system without the flag: a plain rename of a directory replaces nothing
// but an empty directory, and no directory with a meaning of ours is empty.
bool rename_names(const Parent& source, const Parent& target) noexcept {
    if (source.fd() < 0)
        return false;
    if (::renameat2(source.fd(), source.name(), target.fd(), target.name(), RENAME_NOREPLACE) == 0)
        return true;
    return (errno == EINVAL || errno == ENOSYS) &&
           ::renameat(source.fd(), source.name(), target.fd(), target.name()) == 0;
}

}  // namespace

RenameResult rename_directory(const std::filesystem::path& from, const std::filesystem::path& to) {
    const Parent target(to);
    if (target.fd() >= 0 && rename_names(Parent(from), target))
        return RenameResult::renamed;
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

RenameResult rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    const Parent target(to);
    if (target.fd() >= 0) {
        const Parent source(from);
        if (source.fd() >= 0 && ::renameat2(source.fd(), source.name(), target.fd(), target.name(), RENAME_NOREPLACE) == 0)
            return RenameResult::renamed;
    }
    if (errno == EEXIST)
        return RenameResult::target_exists;
    if (errno == ENOENT)
        return RenameResult::source_missing;
    if (errno != EINVAL && errno != ENOSYS)
        throw system_failure("rename '" + from.string() + "' to", to, errno);
    // A file system without the flag, where a plain rename would replace: a second name, and the first one goes.
    if (!link_file(from, to))
        return RenameResult::target_exists;
    remove_file(from);
    return RenameResult::renamed;
}

namespace {

bool remove_name(const std::filesystem::path& path, int flags) noexcept {
    try {
        const Parent parent(path);
        return (parent.fd() >= 0 && ::unlinkat(parent.fd(), parent.name(), flags) == 0) || errno == ENOENT;
    } catch (const std::exception&) {
        return false;  // no memory
    }
}

}  // namespace

bool remove_file(const std::filesystem::path& path) noexcept { return remove_name(path, 0); }

namespace {

bool is_regular(const Descriptor& file) noexcept {
    struct stat status {};
    return ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

std::optional<Descriptor> open_directory(const std::filesystem::path& path) {
    try {
        return open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (const Error& error) {
        if (error.system_error() == ENOTDIR || error.system_error() == ELOOP)
            return std::nullopt;
        throw;
    }
}

namespace {

// Through the open directory, so that nothing that is put in its place meanwhile is removed. False: no more may be removed.
bool empty_directory(const Descriptor& directory, int levels, std::uint64_t& files_left) {
    for (const std::string& name : names_in_opened(directory, path_of(directory))) {
        if (files_left == 0)
            return false;
        --files_left;
        if (::unlinkat(directory.get(), name.c_str(), 0) == 0 || levels == 0)
            continue;
        const Descriptor inner = open_in(directory, name, O_RDONLY | O_DIRECTORY);
        if (inner && !empty_directory(inner, levels - 1, files_left))
            return false;
        ::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR);
    }
    return true;
}

}  // namespace

bool remove_directory(const std::filesystem::path& path) noexcept {
    std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    return remove_directory(path, all);
}

bool remove_directory(const std::filesystem::path& path, std::uint64_t& files_left) noexcept {
    try {
        const std::optional<Descriptor> directory = open_directory(path);
        if (!directory)
            return remove_file(path);
        if (!empty_directory(*directory, kDirectoryLevels - 1, files_left))
            return false;
    } catch (const Error& error) {
        return error.code() == ErrorCode::not_found;
    } catch (const std::exception&) {
        return false;  // no memory or no right to: the next sweep tries again
    }
    return remove_name(path, AT_REMOVEDIR);
}

std::string read_text(const std::filesystem::path& path, std::size_t bytes_max) noexcept {
    try {
        const Descriptor file = open_file(path, O_RDONLY | O_NOFOLLOW);
        std::string text(bytes_max, '\0');
        const ssize_t bytes = is_regular(file) ? ::read(file.get(), text.data(), text.size()) : 0;
        text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
        return text;
    } catch (const std::exception&) {
        return {};
    }
}

void replace_text(const std::filesystem::path& path, const std::string& text) noexcept {
    try {
        const Descriptor file = open_file(path, O_WRONLY | O_NOFOLLOW);
        if (is_regular(file) && ::ftruncate(file.get(), 0) == 0)
            (void)!::write(file.get(), text.data(), text.size());
    } catch (const std::exception&) {
        // it stays as it is
    }
}

void sync_path(const std::filesystem::path& path) noexcept {
    try {
        ::fsync(open_file(path, O_RDONLY | O_NOFOLLOW).get());
    } catch (const std::exception&) {
        // as durable as it is
    }
}

std::vector<std::string> names_in(const std::filesystem::path& directory) {
    const Descriptor opened(beyond_streams(open_without_links(directory, O_RDONLY | O_DIRECTORY)));
    if (!opened && errno != ENOENT && errno != ENOTDIR)
        throw system_failure("list the directory", directory, errno);
    return opened ? names_in_opened(opened, directory) : std::vector<std::string>();
}

namespace {

std::optional<struct stat> status_of(const std::filesystem::path& path) {
    if (const auto status = status_without_links(path))
        return status;
    if (errno == ENOENT || errno == ENOTDIR)
        return std::nullopt;
    throw system_failure("look at", path, errno);
}

}  // namespace

PathKind kind_of(const std::filesystem::path& path) {
    const auto status = status_of(path);
    if (!status)
        return PathKind::absent;
    if (S_ISREG(status->st_mode))
        return PathKind::file;
    return S_ISDIR(status->st_mode) ? PathKind::directory : PathKind::other;
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
    const auto status = status_of(path);
    return status ? std::optional(FileIdentity{status->st_dev, status->st_ino}) : std::nullopt;
}

std::optional<FileShape> shape_of(const std::filesystem::path& path) {
    const auto status = status_of(path);
    if (!status)
        return std::nullopt;
    return FileShape{{status->st_dev, status->st_ino}, static_cast<std::uint64_t>(status->st_size)};
}

void knock(const std::filesystem::path& path) noexcept {
    try {
        char byte = 0;
        (void)!::read(open_file(path, O_RDONLY | O_NOFOLLOW).get(), &byte, 1);
    } catch (const std::exception&) {
        // nobody hears it
    }
}

std::optional<FreeSpace> free_space(const std::filesystem::path& path) noexcept {
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0 || status.f_frsize == 0)
        return std::nullopt;
    FreeSpace space{std::uint64_t{status.f_bavail} * status.f_frsize, status.f_frsize, std::nullopt};
    if (status.f_files != 0)
        space.inodes = status.f_favail;
    return space;
}

}  // namespace ringmain::platform
