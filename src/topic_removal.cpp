// Deleting a topic: first it is dead, then its handles are told, then its name is free, then its memory.
//
// A dead topic keeps its name until it is moved to the trash. If two processes could move it, the slower one might move
// a new topic that has got the name in between. Therefore whoever moves holds the lock of `topics.lock` (kernel-held: a
// killed holder holds nothing) and looks under it whether the topic is dead. The lock suffices: a creator cannot
// replace what is there, and nobody else moves.
#include "topic_removal.hpp"

#include <limits>
#include <thread>

#include "damage.hpp"
#include "file_stamp.hpp"
#include "group_table/sweeping.hpp"
#include "partition_log/doorbell.hpp"
#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "platform/futex.hpp"
#include "ringmain/error.hpp"
#include "topic_files.hpp"
#include "topic_meta.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using platform::Access;
using platform::FileLock;
using platform::HostMemory;
using platform::Mapping;
using platform::PathKind;

constexpr std::uint64_t kMoverLockAt = 0;

void tell_handles(layout::ReaderBlock<HostMemory>& readers) noexcept {
    // release DOORBELL: the topic is dead
    readers.doorbell.fetch_or(layout::kTopicDeleted, std::memory_order_release);
    partition_log::Doorbell<HostMemory> bell(readers);
    if (bell.take_sleepers())
        platform::futex_wake_all(*bell.futex_word());
}

void tell_members(const group_table::GroupsMemory<HostMemory>& groups) noexcept {
    group_table::delete_all_groups(groups);
    for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot)
        platform::futex_wake_all(groups.group(slot).wake);
}

void tell_members_of(const std::filesystem::path& topic) noexcept {
    try {
        const std::filesystem::path path = groups_path(topic);
        const Mapping file(path, Access::read_write, layout::kGroupsAt);
        check_stamp(file, path, layout::FileKind::groups);
        const auto geometry = *reinterpret_cast<const layout::GroupsGeometry*>(file.data() + layout::kGroupsGeometryAt);
        const bool possible = geometry.partitions <= kPartitionsMax && geometry.groups_max <= kGroupsMax &&
                              geometry.members_max <= kMembersMax;
        if (possible && layout::groups_file_bytes(geometry) == file.size())
            tell_members({file.data(), geometry});
    } catch (const std::exception&) {
    }
}

// A killed deleter may not have got as far. Damage is no reason to keep a dead topic.
void tell_handles_of(const std::filesystem::path& topic) noexcept {
    try {
        const std::filesystem::path path = readers_path(topic);
        const Mapping file(path, Access::read_write, readers_file_bytes(1));
        check_stamp(file, path, layout::FileKind::readers);
        const std::uint64_t blocks = (file.size() - layout::kReadersAt) / layout::kReaderBlockBytes;
        auto* const first = reinterpret_cast<layout::ReaderBlock<HostMemory>*>(file.data() + layout::kReadersAt);
        for (std::uint64_t i = 0; i < blocks; ++i)
            tell_handles(first[i]);
    } catch (const std::exception&) {
    }
}

bool lock_within(FileLock& lock, std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!lock.try_lock(kMoverLockAt)) {
        if (std::chrono::steady_clock::now() >= deadline)
            return false;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
}

constexpr std::uint64_t kAllFiles = std::numeric_limits<std::uint64_t>::max();

/// The end of a burial, for whoever has the movers' lock and knows that the topic may go. False: `grave` exists.
bool move_to_grave(FileLock& mover, const std::filesystem::path& topic, const std::filesystem::path& grave,
                   std::uint64_t& files_left) {
    tell_handles_of(topic);
    tell_members_of(topic);
    if (platform::rename_directory(topic, grave) == platform::RenameResult::target_exists)
        return false;
    mover.unlock(kMoverLockAt);
    platform::remove_directory(grave, files_left);
    platform::sync_path(topic.parent_path());
    return true;
}

// Whatever its fate: a topic.meta that cannot be read does not say that its topic is dead.
bool is_dead(const std::filesystem::path& topic) {
    try {
        const Mapping meta(meta_path(topic), Access::read_only, layout::kTopicFileBytes);
        check_stamp(meta, meta_path(topic), layout::FileKind::topic);
        return is_marked_dead(topic_meta(meta));
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

bool is_beyond_opening(const Error& error) noexcept { return is_damage(error) || error.code() == ErrorCode::not_ready; }

NameState state_of_name(const std::filesystem::path& topic) {
    const PathKind kind = platform::kind_of(topic);
    if (kind == PathKind::absent)
        return NameState::free;
    if (kind != PathKind::directory)
        return NameState::foreign;
    if (is_dead(topic))
        return NameState::dead;
    try {
        if (platform::kind_of(meta_path(topic)) == PathKind::file)
            return NameState::live;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::permission_denied)
            throw;
        return NameState::live;  // private
    }
    // No topic.meta: moved away between the two looks, or nothing of ours.
    return platform::kind_of(topic) == PathKind::absent ? NameState::free : NameState::foreign;
}

bool mark_dead(const TopicFiles& topic, std::uint64_t deleter) {
    const std::filesystem::path path = meta_path(topic.directory());
    const Mapping meta(path, Access::read_write, layout::kTopicFileBytes);
    if (check_stamp(meta, path, layout::FileKind::topic) != topic.id())
        return false;  // a new topic has the name
    auto& state = topic_meta(meta).state;
    // relaxed: the exchange decides. A state that names no client is no deletion, and not in its way
    std::uint64_t live = is_marked_dead(topic_meta(meta)) ? 0 : state.load(std::memory_order_relaxed);
    // release TOPIC_STATE: nothing but the death itself; lost: deleted by somebody else; a state that names a client
    // stays, so no ABA
    if (!state.compare_exchange_strong(live, deleter, std::memory_order_acq_rel, std::memory_order_acquire))
        return false;
    // What may not be written here is told by whoever buries the topic.
    if (topic.readers_writable())
        tell_handles(topic);
    if (topic.groups_writable())
        tell_members(topic);
    return true;
}

void tell_handles(const TopicFiles& topic) noexcept {
    for (std::uint32_t partition = 0; partition < topic.options().partitions; ++partition)
        tell_handles(*topic.readers(partition));
}

void tell_members(const TopicFiles& topic) noexcept { tell_members(topic.groups()); }

bool bury(const std::filesystem::path& broker, const std::string& name, const std::filesystem::path& grave,
          std::chrono::milliseconds patience, std::uint64_t& files_left) {
    const std::filesystem::path topic = topics_path(broker) / name;
    FileLock mover(topics_lock_path(broker));
    if (!lock_within(mover, patience))
        return state_of_name(topic) != NameState::dead;
    if (state_of_name(topic) != NameState::dead)
        return true;
    return move_to_grave(mover, topic, grave, files_left);
}

bool bury(const std::filesystem::path& broker, const std::string& name, const std::filesystem::path& grave,
          std::chrono::milliseconds patience) {
    std::uint64_t all = kAllFiles;
    return bury(broker, name, grave, patience, all);
}

bool bury_damaged(const std::filesystem::path& broker, const std::string& name, const std::filesystem::path& grave,
                  std::chrono::milliseconds patience, std::uint64_t deleter) {
    const std::filesystem::path topic = topics_path(broker) / name;
    FileLock mover(topics_lock_path(broker));
    if (!lock_within(mover, patience)) {
        throw Error(ErrorCode::not_ready, name,
                    "topic '" + name + "' is damaged, and a process that is stopped is moving another one; try again");
    }
    try {
        (void)TopicFiles(topic, name);
        return false;  // another one by now
    } catch (const Error& error) {
        if (!is_beyond_opening(error))
            throw;
    }
    try {
        const Mapping meta(meta_path(topic), Access::read_write, layout::kTopicFileBytes);
        // release TOPIC_STATE: nothing but the death itself, for the handles that are open
        topic_meta(meta).state.store(deleter, std::memory_order_release);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::permission_denied)
            throw;
    }
    std::uint64_t all = kAllFiles;
    return move_to_grave(mover, topic, grave, all);
}

}  // namespace ringmain
