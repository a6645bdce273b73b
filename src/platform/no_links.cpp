// Paths on which no symbolic link is followed.
#include "platform/no_links.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <iterator>
#include <memory>
#include <string_view>

#include "platform/system_failure.hpp"

#ifndef SYS_openat2
#define SYS_openat2 437  // the same number on every architecture
#endif

namespace ringmain::platform {

namespace {

std::atomic<bool> g_openat2_works{true};

// Linux before 5.6, seccomp filters that are older than the call, valgrind: one name after the other.
int walk(const std::filesystem::path& path, int flags, unsigned mode) {
    Descriptor at(beyond_streams(::open(path.is_absolute() ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)));
    const std::filesystem::path way = path.relative_path();
    for (auto name = way.begin(); at; ++name) {
        if (name == way.end())
            return ::openat(at.get(), ".", flags | O_CLOEXEC, mode);
        if (std::next(name) == way.end() && !name->empty())
            return ::openat(at.get(), name->c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
        if (name->empty())
            continue;
        struct stat status {};
        Descriptor next(beyond_streams(::openat(at.get(), name->c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)));
        if (next && ::fstat(next.get(), &status) == 0 && !S_ISDIR(status.st_mode)) {
            errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
            return -1;
        }
        at = std::move(next);
    }
    return -1;
}

struct DirectoryCloser {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

int open_without_links(const std::filesystem::path& path, int flags, unsigned mode) noexcept {
    if ((flags & O_PATH) != 0)
        flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW;  // what openat2 lets beside it
    // relaxed: a hint; whoever reads it late makes one failing call more
    if (g_openat2_works.load(std::memory_order_relaxed)) {
        open_how how{};
        how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
        how.mode = (flags & O_CREAT) != 0 ? mode : 0;
        how.resolve = RESOLVE_NO_SYMLINKS;
        const auto fd = static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
            return fd;
        if (errno == ENOSYS)
            g_openat2_works.store(false, std::memory_order_relaxed);
    }
    try {
        return walk(path, flags, mode);
    } catch (const std::exception&) {
        errno = ENOMEM;
        return -1;
    }
}

Parent::Parent(const std::filesystem::path& path) : name_(path.filename().string()) {
    const std::filesystem::path above = path.parent_path();
    const int fd = open_without_links(above.empty() ? "." : above, O_PATH | O_DIRECTORY);
    const int failure = errno;
    directory_ = Descriptor(beyond_streams(fd));
    if (fd < 0)
        errno = failure;
}

std::optional<struct stat> status_without_links(const std::filesystem::path& path) {
    const Parent parent(path);
    struct stat status {};
    if (parent.fd() < 0)
        return std::nullopt;
    if (::fstatat(parent.fd(), parent.name(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return std::nullopt;
    return status;
}

Descriptor open_in(const Descriptor& directory, const std::string& name, int flags) noexcept {
    return Descriptor(beyond_streams(::openat(directory.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)));
}

std::vector<std::string> names_in_opened(const Descriptor& directory, const std::filesystem::path& path) {
    const int own = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, DirectoryCloser> stream(own < 0 ? nullptr : ::fdopendir(own));
    if (!stream) {
        const int failure = errno;
        if (own >= 0)
            ::close(own);
        throw system_failure("list the directory", path, failure);
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            names.emplace_back(name);
    }
    return names;
}

}  // namespace ringmain::platform
