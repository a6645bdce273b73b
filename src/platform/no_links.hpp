// Paths on which no symbolic link is followed, so that who may write a directory leads no process with more rights
// elsewhere.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "platform/descriptor.hpp"

namespace ringmain::platform {

/// open(2) with O_CLOEXEC; ELOOP if there is a link on the way or at the end. Returns -1, and errno tells, on failure.
[[nodiscard]] int open_without_links(const std::filesystem::path& path, int flags, unsigned mode = 0) noexcept;

/// The directory above a path, open, and the name in it: for the calls that end in "at".
class Parent {
public:
    /// If it cannot be opened, fd() is -1 and errno tells why, as after those calls.
    explicit Parent(const std::filesystem::path& path);
    [[nodiscard]] int fd() const noexcept { return directory_.get(); }
    [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }

private:
    Descriptor directory_;
    std::string name_;
};

/// Of what lies there itself, also if it is a link. Nothing, and errno tells, on failure.
[[nodiscard]] std::optional<struct stat> status_without_links(const std::filesystem::path& path);

/// What has that name in an open directory; nothing, and errno tells, on failure, also if it is a link.
[[nodiscard]] Descriptor open_in(const Descriptor& directory, const std::string& name, int flags) noexcept;

/// The names in an open directory; `path` is for errors. Throws Error.
[[nodiscard]] std::vector<std::string> names_in_opened(const Descriptor& directory, const std::filesystem::path& path);

}  // namespace ringmain::platform
