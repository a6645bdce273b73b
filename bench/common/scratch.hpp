// A broker directory of one's own in shared memory that is gone when the program is.
#pragma once

#include <filesystem>
#include <optional>

#include "bench/common/guardian.hpp"

namespace ringmain::bench {

/// A fresh private directory below /dev/shm (or the temporary directory). Removed by the destructor in the process that
/// made it, and by a guardian if that process is killed. If the guardian is killed as well, the next program sweeps it:
/// each directory holds a locked file, and the lock goes with its process.
class ScratchDirectory {
public:
    /// Requires one thread. Throws std::system_error.
    ScratchDirectory();
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// An absent path inside, for a broker.
    [[nodiscard]] std::filesystem::path broker() const { return path_ / "broker"; }

private:
    std::filesystem::path path_;
    int lock_ = -1;
    int owner_pid_ = 0;
    std::optional<Guardian> guardian_;
};

}  // namespace ringmain::bench
