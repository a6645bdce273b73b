// Making, moving and removing files and directories.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/descriptor.hpp"
#include "platform/mapping.hpp"

namespace ringmain::platform {

// Rights of new files and directories: what the umask leaves. In a directory that is setgid and writable by its group,
// the group may read and write whatever the umask says: so an administrator shares a directory with a group.

enum class Readers : std::uint8_t {
    any,           ///< As the umask says.
    writers_only,  ///< Nobody who may not write the file: who may read it could lock it, and keep others from doing so.
};

/// Makes a file of that many zero bytes that must not exist yet, with every page allocated and touched: no later access
/// to it can fail for want of memory. On hugetlbfs it is rounded up to whole huge pages. Returns it mapped read-write.
/// On failure nothing is left. Throws Error: already_exists, no_space, permission_denied, not_found, io, interrupted
/// (`stop`, asked between pieces of work of some milliseconds, said so).
[[nodiscard]] Mapping create_file(const std::filesystem::path& path, std::uint64_t bytes,
                                  Readers readers = Readers::any, const std::function<bool()>& stop = {});

/// False if it exists. Throws Error otherwise.
bool create_directory(const std::filesystem::path& path);

/// Gives a file a further name. False if that name is taken. Throws Error otherwise.
bool link_file(const std::filesystem::path& from, const std::filesystem::path& to);

enum class RenameResult : std::uint8_t { renamed, target_exists, source_missing };

/// Renames a directory and replaces nothing. Throws Error: permission_denied, io.
[[nodiscard]] RenameResult rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);
/// The same for a file.
[[nodiscard]] RenameResult rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// A directory, for work in it that must not be led elsewhere meanwhile (path_of). Nothing if it is there and is no directory:
/// a link is not followed, or its maker could have another's files removed. Throws Error: not_found, permission_denied, io.
[[nodiscard]] std::optional<Descriptor> open_directory(const std::filesystem::path& path);

/// How deep the directories of a topic are: the topic, its queues, a queue.
inline constexpr int kDirectoryLevels = 3;

/// Removes a file, or a directory with all that is in it, kDirectoryLevels deep. What is gone already is no error, so that
/// several processes may remove the same directory at once. False if something is left.
bool remove_file(const std::filesystem::path& path) noexcept;
bool remove_directory(const std::filesystem::path& path) noexcept;
/// The same for as many files as `files_left` says, which is counted down: what is left is removed by further calls.
bool remove_directory(const std::filesystem::path& path, std::uint64_t& files_left) noexcept;

/// The first bytes of a file, for show: none if it cannot be read. Like all here that opens a file of a broker it
/// follows no link, and waits for nobody whatever lies there.
[[nodiscard]] std::string read_text(const std::filesystem::path& path, std::size_t bytes_max) noexcept;

/// Puts a short text in the place of what is in an existing file. For show: a failure changes nothing else.
void replace_text(const std::filesystem::path& path, const std::string& text) noexcept;

/// Makes a file or the names in a directory durable on a disk; costs nothing on a tmpfs. Never fails: a file system
/// without it is as durable as it is.
void sync_path(const std::filesystem::path& path) noexcept;

/// Names in a directory, without "." and ".."; none if it is not there. Throws Error permission_denied or io.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& directory);

enum class PathKind : std::uint8_t { absent, file, directory, other };
/// Throws Error permission_denied or io.
[[nodiscard]] PathKind kind_of(const std::filesystem::path& path);

/// What the path names now; nothing if that is nothing. Throws Error permission_denied or io.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

/// The same with its size. Throws as identity_of.
struct FileShape {
    FileIdentity identity;
    std::uint64_t bytes = 0;
};
[[nodiscard]] std::optional<FileShape> shape_of(const std::filesystem::path& path);

/// Reads a byte of a file, which those hear who watch its directory for reads (DirectoryWatch): a bell for whoever may
/// read it.
void knock(const std::filesystem::path& path) noexcept;

/// What is free for this user on a file system.
struct FreeSpace {
    std::uint64_t bytes = 0;
    std::uint64_t page_bytes = 0;         ///< What files are made of there; never 0.
    std::optional<std::uint64_t> inodes;  ///< Nothing: they are not counted there.
};
/// Of the file system of the path, if the kernel tells.
[[nodiscard]] std::optional<FreeSpace> free_space(const std::filesystem::path& path) noexcept;

}  // namespace ringmain::platform
