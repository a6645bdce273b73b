// The demo's own broker directory: made for one run, removed at its end, and swept by the next run if it was killed.
#pragma once

#include <filesystem>

namespace ringmain::cli::demo {

/// A directory `ringmain-demo-XXXXXX` below `parent`, with a lock in it that this process and its children hold.
class PrivateDirectory {
public:
    /// Makes `parent` if it is absent, and first removes what killed demos left there: directories whose lock nobody
    /// holds. Throws std::system_error naming the path.
    explicit PrivateDirectory(const std::filesystem::path& parent);
    PrivateDirectory(const PrivateDirectory&) = delete;
    PrivateDirectory& operator=(const PrivateDirectory&) = delete;
    ~PrivateDirectory();

    /// An empty directory for the broker.
    [[nodiscard]] std::filesystem::path broker() const { return path_ / "broker"; }

private:
    std::filesystem::path path_;
    std::filesystem::path parent_made_;  ///< Empty unless the parent was made here.
    int lock_ = -1;
};

}  // namespace ringmain::cli::demo
