// Who may use a directory of files: owner, group and permission bits.
#pragma once

#include <filesystem>

#include "platform/file_identity.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::platform {

/// Owner, group and permission bits (without those above 0777). Throws Error: not_found, permission_denied, io.
[[nodiscard]] TopicAccess rights_of(const std::filesystem::path& path);

/// Gives the files in a directory and in those below it (kDirectoryLevels), and the directories with them, the rights that
/// `access` names. `mode` is that of the files; its owner may always use a directory, others where there is a file for them
/// to use. Follows no link. If it fails in the middle, or the caller dies, some have the old rights. Throws Error:
/// not_found, permission_denied, io.
void set_rights(const std::filesystem::path& directory, const TopicAccess& access);

/// The same for the directory alone.
void set_rights_of_directory(const std::filesystem::path& directory, const TopicAccess& access);
/// The same for one file, and not for its directory.
void set_rights_of_file(const std::filesystem::path& path, const TopicAccess& access);

/// The same of the directory that holds that file, not of another one that has its place by now: false, and nothing is changed.
bool set_rights_of(const std::filesystem::path& directory, const char* file, const FileIdentity& identity,
                   const TopicAccess& access);

/// The permission bits of whatever lies there; a link is not followed, but refused. Throws Error.
void set_mode(const std::filesystem::path& path, std::uint32_t mode);

/// Withdraws a new, empty directory from everybody but its owner, until set_rights gives it back. Returns the
/// permission bits for files that it takes away, as the umask and the directory above gave them. Throws Error.
[[nodiscard]] std::uint32_t make_private(const std::filesystem::path& directory);

}  // namespace ringmain::platform
