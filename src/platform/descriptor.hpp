// A file descriptor that closes itself.
#pragma once

#include <filesystem>
#include <utility>

namespace ringmain::platform {

/// Owns a descriptor; move-only. -1 is none.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) noexcept : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~Descriptor() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
    void reset() noexcept;
    explicit operator bool() const noexcept { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// A path that names what is open, whatever was put at its own path meanwhile.
[[nodiscard]] std::filesystem::path path_of(const Descriptor& opened);

/// The same open file under a number beyond the standard streams: a process that was started with one of them closed
/// would print into it or read from it otherwise. Takes `fd` over, whatever happens; -1, with errno, if there is no
/// number left.
[[nodiscard]] int beyond_streams(int fd) noexcept;

/// open(2) with O_CLOEXEC and O_NONBLOCK (a FIFO in the place of a file must not hang anybody), retried when a signal
/// interrupts it; a new file gets what the umask leaves of `mode`. Throws Error as system_failure says.
[[nodiscard]] Descriptor open_file(const std::filesystem::path& path, int flags, unsigned mode = 0666);

}  // namespace ringmain::platform
