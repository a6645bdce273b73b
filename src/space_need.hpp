// What new files take, beside what there is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "platform/files.hpp"

namespace ringmain {

struct SpaceNeed {
    std::uint64_t bytes = 0;
    std::uint64_t inodes = 0;  ///< Files and directories.
};

[[nodiscard]] constexpr std::uint64_t whole_pages(std::uint64_t bytes, std::uint64_t page) noexcept { return (bytes + page - 1) / page * page; }

[[nodiscard]] inline bool lacks_inodes(const std::optional<platform::FreeSpace>& free, const SpaceNeed& need) noexcept {
    return free && free->inodes && *free->inodes < need.inodes;
}
/// What is free may be gone a moment later: this only saves the work. The allocation decides.
[[nodiscard]] inline bool lacks_space(const std::optional<platform::FreeSpace>& free, const SpaceNeed& need) noexcept {
    return (free && free->bytes < need.bytes) || lacks_inodes(free, need);
}

/// "no space for OBJECT in 'PLACE': N bytes needed, M free", and inodes if they are what there is too little of.
[[nodiscard]] inline std::string no_space_text(const std::string& object, const std::filesystem::path& place,
                                               const std::optional<platform::FreeSpace>& free, const SpaceNeed& need) {
    std::string text = "no space for " + object + " in '" + place.string() + "': " + std::to_string(need.bytes) + " bytes needed, " +
                       (free ? std::to_string(free->bytes) : std::string("an unknown number")) + " free";
    if (lacks_inodes(free, need)) {
        text.append("; ").append(std::to_string(need.inodes)).append(" inodes (files and directories) needed, ");
        text.append(std::to_string(*free->inodes)).append(" free");
    }
    return text;
}

}  // namespace ringmain
