// A broker directory of one's own in shared memory that is gone when the program is.
#pragma once

#include <filesystem>

namespace ringmain::bench {

/// A fresh private directory below /dev/shm (or the temporary directory). Removed by the destructor in the process that
/// made it. What a killed program left behind is swept by the next one: each directory holds a locked file, and the
/// lock goes with its process.
class ScratchDirectory {
public:
    ScratchDirectory();
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    /// An absent path inside, for a broker.
    [[nodiscard]] std::filesystem::path broker() const { return path_ / "broker"; }

private:
    std::filesystem::path path_;
    int lock_ = -1;
    int owner_pid_ = 0;
};

}  // namespace ringmain::bench
