// Making, locking, sweeping and removing scratch directories.
#include "bench/common/scratch.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

namespace ringmain::bench {
namespace {

constexpr const char* kPrefix = "ringmain-scratch-";
constexpr const char* kLockName = "owner.lock";
constexpr const char* kUnfinishedLockName = "owner.lock.new";

std::filesystem::path scratch_root() {
    std::error_code ignored;
    const std::filesystem::path shm = "/dev/shm";
    const bool usable = std::filesystem::is_directory(shm, ignored) && ::access(shm.c_str(), W_OK) == 0;
    return usable ? shm : std::filesystem::temp_directory_path();
}

bool is_mine(const std::filesystem::path& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

/// The lock appears under its name only when it is held, so that nobody takes a new directory for a left-over.
int make_lock(const std::filesystem::path& directory) {
    const std::filesystem::path unfinished = directory / kUnfinishedLockName;
    const int lock = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0 ||
        ::rename(unfinished.c_str(), (directory / kLockName).c_str()) != 0) {
        throw std::system_error(errno, std::generic_category(), unfinished.string());
    }
    return lock;
}

/// Removes a directory whose owner is gone. Without a lock there is nothing in it worth a lock: its owner is between
/// two steps, or was killed there, in which case it goes once it is a minute old.
void sweep_one(const std::filesystem::path& path) {
    std::error_code ignored;
    const int lock = ::open((path / kLockName).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) {
        const auto age =
            std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path, ignored);
        if (age > std::chrono::minutes(1))
            std::filesystem::remove_all(path, ignored);
        return;
    }
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0)
        std::filesystem::remove_all(path, ignored);
    ::close(lock);
}

void sweep(const std::filesystem::path& root) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
        if (entry.path().filename().string().starts_with(kPrefix) && is_mine(entry.path()))
            sweep_one(entry.path());
    }
}

}  // namespace

ScratchDirectory::ScratchDirectory() : owner_pid_(::getpid()) {
    const std::filesystem::path root = scratch_root();
    sweep(root);
    std::string path = (root / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr)
        throw std::system_error(errno, std::generic_category(), path);
    path_ = path;
    lock_ = make_lock(path_);
    guardian_.emplace([this] { std::filesystem::remove_all(path_); });
}

ScratchDirectory::~ScratchDirectory() {
    if (::getpid() != owner_pid_)
        return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    ::close(lock_);
}

}  // namespace ringmain::bench
