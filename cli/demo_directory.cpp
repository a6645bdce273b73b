// Making, locking, removing and sweeping the demo's directories.
#include "demo_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace ringmain::cli::demo {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "ringmain-demo-";
constexpr const char* kLockName = "demo.lock";
constexpr const char* kUnfinishedLockName = "demo.lock.new";

[[noreturn]] void fail(const fs::path& path) { throw std::system_error(errno, std::generic_category(), path.string()); }

/// Whether a demo that is gone left this directory. One without a lock is being made at this moment, unless it is old.
bool is_left_over(const fs::path& directory) {
    const int lock = ::open((directory / kLockName).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) {
        const bool has_none = errno == ENOENT;
        std::error_code unknown;
        const auto made = fs::last_write_time(directory, unknown);
        return has_none && !unknown && fs::file_time_type::clock::now() - made > std::chrono::minutes(1);
    }
    const bool free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
    ::close(lock);
    return free;
}

void sweep(const fs::path& parent) {
    std::error_code ignored;  // another demo may be sweeping the same directory, or it is not ours to remove
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kPrefix) && entry.is_directory(ignored) && !entry.is_symlink(ignored) &&
            is_left_over(entry.path())) {
            fs::remove_all(entry.path(), ignored);
        }
    }
}

/// The lock appears under its name only when it is held, so that nobody takes a new directory for a left-over.
int make_lock(const fs::path& directory) {
    const fs::path unfinished = directory / kUnfinishedLockName;
    const int lock = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock < 0)
        fail(unfinished);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0 || ::rename(unfinished.c_str(), (directory / kLockName).c_str()) != 0) {
        ::close(lock);
        fail(unfinished);
    }
    return lock;
}

}  // namespace

PrivateDirectory::PrivateDirectory(const fs::path& parent) {
    if (fs::create_directory(parent))
        parent_made_ = parent;
    sweep(parent);
    std::string name = (parent / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
        fail(parent);
    path_ = name;
    try {
        lock_ = make_lock(path_);
        if (::mkdir(broker().c_str(), 0700) != 0)
            fail(broker());
        guardian_.emplace([this] { remove(); });
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        throw;
    }
}

void PrivateDirectory::remove() const noexcept {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (!parent_made_.empty())
        fs::remove(parent_made_, ignored);
}

PrivateDirectory::~PrivateDirectory() {
    remove();
    guardian_.reset();
    ::close(lock_);
}

}  // namespace ringmain::cli::demo
