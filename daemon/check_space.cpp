// Whether the topics of a configuration fit where the broker lies, one after the other.
#include "check_space.hpp"

#include <fmt/core.h>

#include "topic_creation.hpp"

namespace ringmain::daemon {

SpaceCheck::SpaceCheck(const std::filesystem::path& directory)
    : place_(directory.string()), free_(platform::free_space(directory)) {
    if (!free_)
        free_ = platform::free_space(directory.parent_path());
}

std::optional<std::string> SpaceCheck::take(const TopicOptions& options) {
    if (!free_)
        return std::nullopt;  // the kernel does not tell
    const SpaceNeed need = need_of(options, free_);
    if (need.bytes > free_->bytes)
        return fmt::format("{} bytes needed, {} left in '{}' by the topics before it", need.bytes, free_->bytes,
                           place_);
    if (free_->inodes && need.inodes > *free_->inodes)
        return fmt::format("{} inodes (files and directories) needed, {} left in '{}' by the topics before it",
                           need.inodes, *free_->inodes, place_);
    free_->bytes -= need.bytes;
    if (free_->inodes)
        *free_->inodes -= need.inodes;
    return std::nullopt;
}

}  // namespace ringmain::daemon
