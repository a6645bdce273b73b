// A directory within a topic, open for work in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/files.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

/// Nothing is made, given away or removed through a link that somebody puts in the place of the directory.
class WorkPlace {
public:
    /// Throws Error: not_found, permission_denied, corrupt (it is no directory), io.
    explicit WorkPlace(std::filesystem::path path) : path_(std::move(path)), opened_(open(path_, path_)) {}
    /// A directory in it.
    WorkPlace(const WorkPlace& parent, const std::string& name) : path_(parent.path_ / name), opened_(open(parent / name, path_)) {}

    /// Something in it, by a path that holds as long as this object.
    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return platform::path_of(opened_) / name; }
    /// The directory itself, in the same way.
    [[nodiscard]] std::filesystem::path itself() const { return platform::path_of(opened_) / "."; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    /// The error with the path that people know.
    [[nodiscard]] Error in_words(const Error& error) const {
        return Error(error.code(), replaced(error.object()), replaced(error.what()), error.system_error());
    }

private:
    [[nodiscard]] static platform::Descriptor open(const std::filesystem::path& path, const std::filesystem::path& shown) {
        if (auto opened = platform::open_directory(path)) return std::move(*opened);
        throw Error(ErrorCode::corrupt, shown.string(), "'" + shown.string() + "' is no directory");
    }
    [[nodiscard]] std::string replaced(std::string text) const {
        const std::string theirs = platform::path_of(opened_).string();
        for (std::size_t at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at)) {
            text.replace(at, theirs.size(), path_.string());
            at += path_.string().size();
        }
        return text;
    }

    std::filesystem::path path_;
    platform::Descriptor opened_;
};

}  // namespace ringmain
