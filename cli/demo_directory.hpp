// The demo's own broker directory: made for one run, and removed at its end, also if it is killed.
#pragma once

#include <filesystem>
#include <optional>

#include "bench/common/guardian.hpp"

namespace ringmain::cli::demo {

/// A directory `ringmain-demo-XXXXXX` below `parent`, with a lock in it that this process and its children hold. If they
/// are all killed, a guardian removes it; if that is killed too, the next demo does.
class PrivateDirectory {
public:
    /// Makes `parent` if it is absent, and first removes what killed demos left there: directories whose lock nobody
    /// holds. Requires one thread. Throws std::system_error naming the path.
    explicit PrivateDirectory(const std::filesystem::path& parent);
    PrivateDirectory(const PrivateDirectory&) = delete;
    PrivateDirectory& operator=(const PrivateDirectory&) = delete;
    ~PrivateDirectory();

    /// An empty directory for the broker.
    [[nodiscard]] std::filesystem::path broker() const { return path_ / "broker"; }

private:
    void remove() const noexcept;

    std::filesystem::path path_;
    std::filesystem::path parent_made_;  ///< Empty unless the parent was made here.
    int lock_ = -1;
    std::optional<bench::Guardian> guardian_;
};

}  // namespace ringmain::cli::demo
