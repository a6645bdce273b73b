// A small broker directory as bytes: put back as it was, or with damage, as often as a test wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ringmain::test {

inline constexpr const char* kImageTopic = "image";
inline constexpr const char* kImageQueue = "queue";

/// What a damage does, so that it can be repeated by hand.
struct Damaged {
    std::filesystem::path file;
    std::string what;
};

class BrokerImage {
public:
    /// Makes a broker at `directory` with one topic of one partition, 16 cells and some records of every kind, and a
    /// queue, and remembers all of its bytes.
    explicit BrokerImage(std::filesystem::path directory);

    /// The directory is as it was.
    void restore() const;
    /// Restores, then changes something in one of the files.
    Damaged damage(std::mt19937_64& random) const;

    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    /// Paths relative to the directory.
    [[nodiscard]] const std::map<std::filesystem::path, std::string>& files() const noexcept { return files_; }
    [[nodiscard]] std::filesystem::path log_file() const;

private:
    void remember();
    [[nodiscard]] std::size_t some_position(const std::filesystem::path& file, std::size_t size,
                                            std::mt19937_64& random) const;

    std::filesystem::path directory_;
    std::vector<std::filesystem::path> directories_;
    std::map<std::filesystem::path, std::string> files_;
};

/// Words that are worth writing over others.
[[nodiscard]] std::uint64_t nasty_word(std::uint64_t truth, std::mt19937_64& random);

/// Does everything that programs do with a broker, once, without waiting. Errors are answers; anything else is thrown.
void use_broker(const std::filesystem::path& directory);

}  // namespace ringmain::test
