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
constexpr int kTriesMax = 16;

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

/// Removes a directory whose owner is gone. Without a lock file there is nothing in it: its owner is between two steps, or
/// was killed there, in which case it goes once it is a minute old.
void sweep_one(const std::filesystem::path& path) {
    std::error_code ignored;
    const int lock = ::open((path / kLockName).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) {
        const auto age = std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path, ignored);
        if (age > std::chrono::minutes(1)) ::rmdir(path.c_str());
        return;
    }
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(path, ignored);
    ::close(lock);
}

void sweep(const std::filesystem::path& root) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
        if (entry.path().filename().string().starts_with(kPrefix) && is_mine(entry.path())) sweep_one(entry.path());
    }
}

}  // namespace

ScratchDirectory::ScratchDirectory() : owner_pid_(::getpid()) {
    const std::filesystem::path root = scratch_root();
    sweep(root);
    // A sweeper that comes between the making and the locking takes the directory away: then another one is made.
    for (int tries = 0; tries < kTriesMax && !try_make(root); ++tries) {
    }
    if (lock_ < 0) throw std::system_error(errno, std::generic_category(), "locking a directory below " + root.string());
}

bool ScratchDirectory::try_make(const std::filesystem::path& root) {
    std::string path = (root / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path);
    path_ = path;
    lock_ = ::open((path_ / kLockName).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock_ < 0) return false;
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return true;
    ::close(lock_);
    lock_ = -1;
    return false;
}

ScratchDirectory::~ScratchDirectory() {
    if (::getpid() != owner_pid_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    ::close(lock_);
}

}  // namespace ringmain::bench
