// Hearing of it when names in directories change, by inotify.
#include "platform/directory_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace ringmain::platform {

namespace {

constexpr std::uint32_t kChanges = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF |
                                   IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;

constexpr int kReadsMax = 64;  // however fast somebody brings about more: the rest is there the next time

}  // namespace

DirectoryWatch DirectoryWatch::open() noexcept {
    DirectoryWatch watch;
    watch.queue_ = Descriptor(beyond_streams(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)));
    return watch;
}

std::optional<int> DirectoryWatch::watch(const std::filesystem::path& directory, Reads reads) noexcept {
    if (!queue_)
        return std::nullopt;
    const int number =
        ::inotify_add_watch(queue_.get(), directory.c_str(), kChanges | (reads == Reads::heard ? IN_ACCESS : 0U));
    return number < 0 ? std::nullopt : std::optional(number);
}

void DirectoryWatch::hear_reads_of(const std::filesystem::path& file) noexcept {
    if (queue_)
        (void)::inotify_add_watch(queue_.get(), file.c_str(), IN_ACCESS | IN_DONT_FOLLOW);
}

void DirectoryWatch::forget(int number) noexcept { ::inotify_rm_watch(queue_.get(), number); }

DirectoryWatch::Changes DirectoryWatch::changes() {
    Changes changes;
    alignas(inotify_event) std::byte buffer[4096];
    for (int reads = 0; reads < kReadsMax; ++reads) {
        const ssize_t bytes = queue_ ? ::read(queue_.get(), buffer, sizeof buffer) : 0;
        if (bytes <= 0)
            break;
        for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
            inotify_event event{};
            std::memcpy(&event, buffer + at, sizeof event);
            at += sizeof event + event.len;
            if ((event.mask & IN_Q_OVERFLOW) != 0)
                changes.everything = true;
            else if ((event.mask & IN_IGNORED) == 0)
                changes.directories.push_back(event.wd);
        }
    }
    return changes;
}

}  // namespace ringmain::platform
