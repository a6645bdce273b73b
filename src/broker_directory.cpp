// Making a directory a broker, and checking that it is one.
//
// Each file is built under a temporary name, locked by its maker, and then linked to its own name, which replaces
// nothing; `clients` comes last. Killed anywhere, a maker leaves the directory without `clients`, and at most a
// temporary file whose lock is free: the next maker removes the one and adds what is missing.
#include "broker_directory.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "file_stamp.hpp"
#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "platform/random.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using platform::Access;
using platform::FileLock;
using platform::Mapping;
using platform::PathKind;

constexpr std::string_view kHalfMadePrefix = ".making-";
constexpr std::uint64_t kMakerLockAt = std::uint64_t{1} << 41;  // beyond the bytes that clients lock
// All files made here carry locks, so that nobody may read them who may not write them.
constexpr std::uint64_t kLockFileBytes = 64;
constexpr int kMakeAttempts = 100;  // each failure means that a sweeper mistook us for dead within microseconds

constexpr std::array<std::string_view, 7> kOwnNames = {"clients", "keeper.lock", "keeper.sock", "topics.lock",
                                                       "topics",  "staging",     "trash"};

bool is_half_made(std::string_view name) noexcept { return name.starts_with(kHalfMadePrefix); }

// A directory with anything else in it is somebody else's.
void check_nothing_foreign(const std::filesystem::path& directory) {
    for (const std::string& name : platform::names_in(directory)) {
        if (is_half_made(name) || std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end())
            continue;
        throw Error(ErrorCode::mismatch, directory.string(),
                    "'" + directory.string() + "' is neither a broker directory nor empty (it holds '" + name + "')");
    }
}

std::filesystem::path half_made_path(const std::filesystem::path& directory) {
    return directory / (std::string(kHalfMadePrefix) + std::to_string(platform::random_word()));
}

enum class Making : std::uint8_t { made, found, swept };

// found: another maker was first, and its file is as good. swept: a sweeper removed the file before it was locked.
template <class Fill>
Making try_make_file(const std::filesystem::path& path, std::uint64_t bytes, const Fill& fill) {
    const std::filesystem::path half_made = half_made_path(path.parent_path());
    try {
        const Mapping file = platform::create_file(half_made, bytes, platform::Readers::writers_only);
        FileLock maker(half_made);
        if (!maker.try_lock(kMakerLockAt))
            return Making::swept;
        fill(file);
        platform::sync_path(half_made);
        const bool made = platform::link_file(half_made, path);
        platform::remove_file(half_made);
        return made ? Making::made : Making::found;
    } catch (const Error& error) {
        platform::remove_file(half_made);
        if (error.code() != ErrorCode::not_found)
            throw;
        return Making::swept;
    }
}

// False: it was there, or another maker was first.
template <class Fill>
bool make_file(const std::filesystem::path& path, std::uint64_t bytes, const Fill& fill) {
    for (int attempt = 0; attempt < kMakeAttempts; ++attempt) {
        if (platform::kind_of(path) != PathKind::absent)
            return false;
        const Making made = try_make_file(path, bytes, fill);
        if (made != Making::swept)
            return made == Making::made;
    }
    throw Error(ErrorCode::not_ready, path.string(), "'" + path.string() + "' cannot be made: others remove it again");
}

void make_subdirectories(const std::filesystem::path& directory) {
    for (const auto& path : {topics_path(directory), staging_path(directory), trash_path(directory)}) {
        platform::create_directory(path);
    }
}

}  // namespace

void make_keeper_lock(const std::filesystem::path& directory) {
    make_file(keeper_lock_path(directory), kLockFileBytes, [](const Mapping&) {});
}

bool make_broker_directory(const std::filesystem::path& directory) {
    platform::create_directory(directory);
    if (platform::kind_of(directory) != PathKind::directory) {
        throw Error(ErrorCode::mismatch, directory.string(), "'" + directory.string() + "' is not a directory");
    }
    if (platform::kind_of(clients_path(directory)) != PathKind::absent)
        return false;

    check_nothing_foreign(directory);
    sweep_half_made_files(directory);
    make_subdirectories(directory);
    make_keeper_lock(directory);
    make_file(topics_lock_path(directory), kLockFileBytes, [](const Mapping&) {});
    const bool made = make_file(clients_path(directory), layout::kClientsFileBytes, [](const Mapping& file) {
        write_stamp(file, layout::FileKind::clients, {});
        mark_ready(file);
    });
    platform::sync_path(directory);
    return made;
}

std::uint64_t sweep_half_made_files(const std::filesystem::path& directory) {
    std::uint64_t removed = 0;
    for (const std::string& name : platform::names_in(directory)) {
        if (!is_half_made(name))
            continue;
        try {
            FileLock maker(directory / name);
            if (maker.try_lock(kMakerLockAt) && platform::remove_file(directory / name))
                ++removed;
        } catch (const Error&) {
            // gone meanwhile, or another user's: not ours to remove
        }
    }
    return removed;
}

std::uint64_t count_half_made_files(const std::filesystem::path& directory) {
    std::uint64_t count = 0;
    for (const std::string& name : platform::names_in(directory)) {
        if (!is_half_made(name))
            continue;
        try {
            if (!FileLock(directory / name, Access::read_only).held_by_other(kMakerLockAt))
                ++count;
        } catch (const Error&) {
            // gone meanwhile, or another user's
        }
    }
    return count;
}

client_table::ClientTable open_client_table(const std::filesystem::path& directory) {
    const std::filesystem::path path = clients_path(directory);
    const PathKind kind = platform::kind_of(directory);
    if (kind == PathKind::absent) {
        throw Error(ErrorCode::not_found, directory.string(),
                    "broker directory '" + directory.string() + "' not found");
    }
    if (kind != PathKind::directory) {
        throw Error(ErrorCode::mismatch, directory.string(), "'" + directory.string() + "' is not a directory");
    }
    if (platform::kind_of(path) == PathKind::absent) {
        throw Error(ErrorCode::not_found, directory.string(),
                    "'" + directory.string() + "' is not a broker directory (no file 'clients' in it)");
    }
    for (const Access access : {Access::read_write, Access::read_only}) {
        try {
            Mapping file(path, access, layout::kClientsFileBytes);
            check_stamp(file, path, layout::FileKind::clients);
            return client_table::ClientTable(std::move(file), path, access);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::permission_denied)
                throw;
        }
    }
    return client_table::ClientTable(path);  // a mere reader: each topic's files have stamps of their own
}

}  // namespace ringmain
