// `keeper.lock`: which byte of it a keeper holds, and what it wrote there for people.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ringmain {

/// Whoever holds this byte is the keeper of the directory.
inline constexpr std::uint64_t kKeeperLockAt = 0;

/// As the keeper called itself, in its own pid namespace; 0: not known. For show: whoever may write the file may have written it.
[[nodiscard]] std::uint32_t pid_in_keeper_lock(const std::filesystem::path& file) noexcept;

}  // namespace ringmain
