// Making, moving and removing files and directories.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "platform/mapping.hpp"

namespace ringmain::platform {

/// Permissions of a new file or directory. They are set by fchmod, so that the umask takes nothing away.
using Mode = std::uint32_t;

/// Makes a file of that many zero bytes that must not exist yet, with every page allocated and touched: no later access
/// to it can fail for want of memory. On hugetlbfs it is rounded up to whole huge pages. Returns it mapped read-write. On failure nothing is left. Throws Error:
/// already_exists, no_space, permission_denied, not_found, io.
[[nodiscard]] Mapping create_file(const std::filesystem::path& path, std::uint64_t bytes, Mode mode);

/// False if it exists. Throws Error otherwise.
bool create_directory(const std::filesystem::path& path, Mode mode);

/// Gives a file a further name. False if that name is taken. Throws Error otherwise.
bool link_file(const std::filesystem::path& from, const std::filesystem::path& to);

enum class RenameResult : std::uint8_t { renamed, target_exists, source_missing };

/// Renames a directory and replaces nothing. Throws Error: permission_denied, io.
[[nodiscard]] RenameResult rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a file, or a directory of files. What is gone already is no error, so that several processes may remove the
/// same directory at once. False if something is left.
bool remove_file(const std::filesystem::path& path) noexcept;
bool remove_directory(const std::filesystem::path& path) noexcept;

/// Makes a file or the names in a directory durable on a disk; costs nothing on a tmpfs. Never fails: a file system
/// without it is as durable as it is.
void sync_path(const std::filesystem::path& path) noexcept;

/// Names in a directory, without "." and ".."; none if it cannot be read.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& directory);

enum class PathKind : std::uint8_t { absent, file, directory, other };
/// Throws Error permission_denied or io.
[[nodiscard]] PathKind kind_of(const std::filesystem::path& path);

/// Bytes free for this user on the file system of the path, if the kernel tells.
[[nodiscard]] std::optional<std::uint64_t> free_bytes(const std::filesystem::path& path) noexcept;

}  // namespace ringmain::platform
