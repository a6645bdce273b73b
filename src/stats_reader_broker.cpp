// The directory itself: its file system, its keeper, and what killed creations and deletions left.
#include "keeper_lock.hpp"
#include "platform/file_lock.hpp"
#include "platform/file_system.hpp"
#include "stats_reader_impl.hpp"
#include "topic_paths.hpp"

namespace ringmain {

FileSystemStats StatsReader::Impl::file_system() const {
    const auto found = platform::file_system_of(broker_->directory());
    if (!found)
        return {};
    return {found->type, found->remote, found->bytes, found->free_bytes, found->free_inodes};
}

KeeperStats StatsReader::Impl::keeper() const {
    const std::filesystem::path path = keeper_lock_path(broker_->directory());
    try {
        const bool running = platform::FileLock(path, platform::Access::read_only).held_by_other(kKeeperLockAt);
        return {running, running ? static_cast<std::int32_t>(pid_in_keeper_lock(path)) : 0};
    } catch (const Error& error) {
        if (error.code() == ErrorCode::not_found)
            return {false, 0};  // no keeper can start either
        return {};
    }
}

LeftoverStats StatsReader::Impl::leftovers() const {
    const Broker::Impl::Leftovers found =
        broker_->count_leftovers([this](const std::string& name) { return known_.contains(name); });
    return {found.work_directories + work_leftovers_, found.half_made_files, found.dead_names};
}

}  // namespace ringmain
