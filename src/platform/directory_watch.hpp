// Hearing of it when names in directories change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "platform/descriptor.hpp"

namespace ringmain::platform {

/// Watches directories: names that come and go in them, rights that are changed, the end of the directory itself, and, if asked
/// for, that files in it are read by read(2). Files that are truncated or written to by write(2) are heard; what is written and
/// read through a mapping is not. By inotify; where the kernel gives none, or no more, nothing is watched.
class DirectoryWatch {
public:
    /// Watches nothing, for good.
    DirectoryWatch() = default;
    /// One that watches, if the kernel lets it.
    [[nodiscard]] static DirectoryWatch open() noexcept;

    /// The number under which changes of this directory are told; nothing if it cannot be watched. A directory that is watched
    /// already, under whatever name, keeps its number.
    enum class Reads : std::uint8_t { ignored, heard };
    [[nodiscard]] std::optional<int> watch(const std::filesystem::path& directory, Reads reads = Reads::ignored) noexcept;
    /// Hears that this file is read by read(2), as knock() does. Told as changes under no directory's number.
    void hear_reads_of(const std::filesystem::path& file) noexcept;
    void forget(int number) noexcept;

    struct Changes {
        std::vector<int> directories;  ///< Each at least once.
        bool everything = false;       ///< Some were lost: anything may have changed.
    };
    /// What changed since the last call. Never waits.
    [[nodiscard]] Changes changes();

    /// Readable when there are changes; -1: nothing is ever watched.
    [[nodiscard]] int descriptor() const noexcept { return queue_.get(); }

private:
    Descriptor queue_;
};

}  // namespace ringmain::platform
