// Which file system something is on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ringmain::platform {

struct FileSystem {
    std::string type;     ///< "tmpfs", "ext4", ..., or the magic number in hexadecimal.
    bool remote = false;  ///< Its files are other hosts', too.
    std::uint64_t bytes = 0;
    std::uint64_t free_bytes = 0;              ///< For this user.
    std::optional<std::uint64_t> free_inodes;  ///< Nothing: they are not counted there.
};
/// Nothing if the kernel does not tell.
[[nodiscard]] std::optional<FileSystem> file_system_of(const std::filesystem::path& path) noexcept;

}  // namespace ringmain::platform
