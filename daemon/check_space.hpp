// Whether the topics of a configuration fit where the broker lies, one after the other.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "platform/files.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::daemon {

class SpaceCheck {
public:
    /// The file system of the directory, or of the one that it will be made in.
    explicit SpaceCheck(const std::filesystem::path& directory);

    /// Why a topic would not fit beside those before it, with needed and free figures; nothing: it would, and takes its
    /// part.
    [[nodiscard]] std::optional<std::string> take(const TopicOptions& options);

private:
    std::string place_;
    std::optional<platform::FreeSpace> free_;
};

}  // namespace ringmain::daemon
