// A process's history as a mapped file of its own: what is noted survives SIGKILL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "event.hpp"

namespace ringmain::nemesis {

/// Nanoseconds of CLOCK_MONOTONIC: one clock for all processes.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// Memory of a mapped file.
class MappedFile {
public:
    /// Makes a file of so many bytes, none of which takes memory before it is used.
    static MappedFile create(const std::filesystem::path& path, std::size_t bytes);
    /// Maps one that is there, to read it.
    static MappedFile open(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    MappedFile(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}
    std::byte* data_;
    std::size_t bytes_;
};

/// Writes one history.
class Journal {
public:
    Journal(const std::filesystem::path& directory, Role role, std::uint32_t index, std::uint32_t life,
            std::size_t events_max);

    /// Notes what is happening now.
    void note(Event event) noexcept;
    /// No more than a few events fit: the life has to end.
    [[nodiscard]] bool nearly_full() const noexcept { return count_ + kSpare >= events_max_; }
    [[nodiscard]] std::uint32_t life() const noexcept { return life_; }

private:
    static constexpr std::size_t kSpare = 4096;
    MappedFile file_;
    std::size_t events_max_;
    std::size_t count_ = 0;
    std::uint32_t life_;
};

/// The histories of a directory, mapped.
class Histories {
public:
    explicit Histories(const std::filesystem::path& directory);
    [[nodiscard]] const std::vector<History>& all() const noexcept { return all_; }

private:
    std::vector<MappedFile> files_;
    std::vector<History> all_;
};

/// Copies the histories to where they stay, without the unused rest of each file.
void keep_histories(const std::vector<History>& histories, const std::filesystem::path& directory);

}  // namespace ringmain::nemesis
