// A small broker directory as bytes: put back as it was, or with damage, as often as a test wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "hostile/image_edits.hpp"

namespace ringmain {
class Broker;
}

namespace ringmain::test {

inline constexpr const char* kImageTopic = "image";
inline constexpr const char* kImageQueue = "queue";
inline constexpr const char* kImageGroup = "group";
inline constexpr const char* kImageRetries = "retries";
inline constexpr const char* kImageLetters = "image.dlq";
inline constexpr const char* kImageBlockTopic = "held";

class BrokerImage {
public:
    /// Makes a broker at `directory` with something of every kind in it (image_content.hpp), and remembers all of its
    /// bytes.
    explicit BrokerImage(std::filesystem::path directory);

    /// The directory is as it was.
    void restore() const;
    /// One of its files has these bytes.
    void write(const std::filesystem::path& file, const std::string& bytes) const;
    /// Restores, then makes the edits.
    void damage(std::span<const ImageEdit> edits) const;
    /// Some edits; says which, so that they can be repeated by hand.
    std::string damage(std::mt19937_64& random) const;

    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    /// Paths relative to the directory.
    [[nodiscard]] const ImageFiles& files() const noexcept { return files_; }
    [[nodiscard]] std::filesystem::path log_file() const;

private:
    void remember();

    std::filesystem::path directory_;
    std::vector<std::filesystem::path> directories_;
    ImageFiles files_;
};

/// Words that are worth writing over others.
[[nodiscard]] std::uint64_t nasty_word(std::uint64_t truth, std::mt19937_64& random);

/// Does everything that programs do with a broker, once, without waiting. Errors are answers; anything else is thrown.
void use_broker(const std::filesystem::path& directory);

/// One of the things that programs do: each with a call of its own, so that processes can do them side by side.
struct Use {
    const char* name;
    void (*run)(const Broker& broker);
};
[[nodiscard]] std::span<const Use> all_uses();

// Some of them.
void use_queues(const Broker& broker);
void use_retries(const Broker& broker);
void use_letters(const Broker& broker);
void use_groups(const Broker& broker);

}  // namespace ringmain::test
