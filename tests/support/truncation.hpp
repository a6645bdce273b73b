// Processes that have the truncation guard, and files that are cut under them and become whole again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "ringmain/truncation.hpp"
#include "support/child.hpp"

namespace ringmain::test {

/// Every page gone, every page but the control words', half of them, and the last page alone.
inline std::vector<std::uintmax_t> sizes_to_cut(const std::filesystem::path& file) {
    return {0, 4096, 8192, std::filesystem::file_size(file) / 2, std::filesystem::file_size(file) - 4096};
}

/// Runs `body` in a process of its own that has the guard; its exit code.
inline int guarded(const std::function<int()>& body) {
    Child child([&] {
        survive_truncation();
        return body();
    });
    return child.wait();
}

/// Cuts a file, which stays the same one, and makes it what it was.
class CutFile {
public:
    /// `kept`: where its bytes are kept meanwhile.
    CutFile(std::filesystem::path file, std::filesystem::path kept) : file_(std::move(file)), kept_(std::move(kept)) {}
    void cut(std::uintmax_t bytes) const {
        std::filesystem::copy_file(file_, kept_, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(file_, bytes);
    }
    void mend() const {
        std::filesystem::copy_file(kept_, file_, std::filesystem::copy_options::overwrite_existing);
    }

private:
    std::filesystem::path file_;
    std::filesystem::path kept_;
};

}  // namespace ringmain::test
