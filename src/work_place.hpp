// A directory within a topic, for work in it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "platform/files.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

/// A directory that was there when this was made. Whatever is done by its paths follows no link (platform/no_links.hpp).
class WorkPlace {
public:
    /// Throws Error: permission_denied, corrupt (it is no directory), io; not_found.
    explicit WorkPlace(std::filesystem::path path) : path_(std::move(path)) {
        if (!platform::open_directory(path_)) throw Error(ErrorCode::corrupt, path_.string(), "'" + path_.string() + "' is no directory");
    }
    /// A directory in it.
    WorkPlace(const WorkPlace& parent, const std::string& name) : WorkPlace(parent / name) {}

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace ringmain
