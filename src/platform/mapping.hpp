// Files and their mapping into memory; the one place that uses Boost.Interprocess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "platform/access.hpp"
#include "platform/file_identity.hpp"
#include "platform/truncation_guard.hpp"

namespace ringmain::platform {

/// A whole file, mapped shared. The descriptor is closed after mapping; move-only. The truncation guard knows it, if one is
/// installed in this process.
class Mapping {
public:
    Mapping() noexcept;
    /// Maps the file at `path` as it is now; its size is taken from the descriptor that is mapped.
    /// Throws Error: not_found, permission_denied (path, owner, mode), corrupt (shorter than `bytes_min`), io.
    Mapping(const std::filesystem::path& path, Access access, std::uint64_t bytes_min);
    Mapping(Mapping&&) noexcept;
    Mapping& operator=(Mapping&&) noexcept;
    ~Mapping();

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] FileIdentity identity() const noexcept { return identity_; }
    explicit operator bool() const noexcept { return data_ != nullptr; }
    /// Pages of the file were missing when they were touched: this is private memory by now. One load. False without a guard.
    [[nodiscard]] bool truncated() const noexcept;
    /// What is done to that memory before it takes the file's place. `object` must outlive the mapping.
    void on_truncation(Replacement call, void* object) const noexcept;

private:
    struct Region;
    std::unique_ptr<Region> region_;
    std::byte* data_ = nullptr;
    std::uint64_t size_ = 0;
    FileIdentity identity_;
};

}  // namespace ringmain::platform
