// What the system tells beside the broker's files: limits, what the kernel lacks, the daemon's socket.
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/membarrier.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "doctor_examination.hpp"

namespace ringmain::cli {

namespace {

namespace fs = std::filesystem;

class OpenFile {
public:
    explicit OpenFile(int descriptor) noexcept : descriptor_(descriptor) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

std::optional<std::uint64_t> number_in(const char* path) {
    std::uint64_t number = 0;
    if (std::ifstream(path) >> number)
        return number;
    return std::nullopt;
}

std::optional<std::uint64_t> descriptors_max() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::nullopt;
    return limit.rlim_cur;
}

bool has_membarrier() { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0; }

bool has_pidfd() {
#if defined(SYS_pidfd_open)
    const OpenFile self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U)));
    return self.get() >= 0;
#else
    return false;
#endif
}

/// Asks for a lock far beyond all that are used; what cannot be opened is not asked.
bool has_file_locks(const std::string& path) {
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0)
        return true;
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(std::uint64_t{1} << 61);
    lock.l_len = 1;
    return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 || (errno != EINVAL && errno != ENOLCK && errno != ENOSYS);
}

bool is_stopped(std::int32_t pid) {
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    std::string name;
    char state = '?';
    for (std::string line; std::getline(status, line);) {
        std::istringstream words(line);
        if (words >> name >> state && name == "State:")
            return state == 'T' || state == 't';
    }
    return false;
}

/// A pid alone could be another process's, or of another pid namespace; this one has the file open.
bool has_open(std::int32_t pid, const fs::path& path) {
    std::error_code error;
    const fs::path file = fs::canonical(path, error);
    if (error)
        return false;
    for (fs::directory_iterator at(fmt::format("/proc/{}/fd", pid), error), end; !error && at != end;
         at.increment(error)) {
        std::error_code gone;
        if (fs::read_symlink(at->path(), gone) == file)
            return true;
    }
    return false;
}

/// The topmost directory on the same file system.
std::string mount_point_of(const std::string& directory) {
    std::error_code error;
    fs::path at = fs::canonical(directory, error);
    struct stat here {};
    if (error || ::stat(at.c_str(), &here) != 0)
        return {};
    while (at.has_relative_path()) {
        struct stat above {};
        if (::stat(at.parent_path().c_str(), &above) != 0 || above.st_dev != here.st_dev)
            break;
        at = at.parent_path();
    }
    return at.string();
}

}  // namespace

bool nobody_listens_on(const std::string& path) {
    struct stat status {};
    sockaddr_un address{};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode) || path.size() >= sizeof address.sun_path)
        return false;
    const OpenFile socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
           errno == ECONNREFUSED;
}

Surroundings look_around(const BrokerStats& stats) {
    Surroundings surroundings;
    const std::int32_t keeper = stats.keeper.pid;
    surroundings.keeper_is_stopped =
        keeper != 0 && is_stopped(keeper) && has_open(keeper, stats.directory + "/keeper.lock");
    surroundings.socket_without_daemon = nobody_listens_on(stats.directory + "/keeper.sock");
    surroundings.maps_max = number_in("/proc/sys/vm/max_map_count");
    surroundings.descriptors_max = descriptors_max();
    surroundings.file_locks = has_file_locks(stats.directory + "/clients");
    surroundings.membarrier = has_membarrier();
    surroundings.pidfd = has_pidfd();
    surroundings.mount_point = mount_point_of(stats.directory);
    surroundings.removed_with = owner_with_whom_it_goes(stats.directory);
    look_at_rights(stats, surroundings);
    look_for_removed_files(stats, surroundings);
    look_at_damaged_files(stats, surroundings);
    return surroundings;
}

}  // namespace ringmain::cli
