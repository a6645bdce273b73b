// A directory of a test's own, removed with everything in it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ringmain::test {

class ScratchDirectory {
public:
    /// Under /dev/shm, where brokers live.
    ScratchDirectory() {
        std::string path = "/dev/shm/ringmain-test-XXXXXX";
        if (::mkdtemp(path.data()) == nullptr)
            throw std::runtime_error("cannot make " + path);
        path_ = path;
        std::filesystem::permissions(path_, std::filesystem::perms(0755));
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// A path in it that does not exist yet: where a test makes its broker.
    [[nodiscard]] std::filesystem::path broker() const { return path_ / "broker"; }

private:
    std::filesystem::path path_;
};

}  // namespace ringmain::test
