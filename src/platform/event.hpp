// A descriptor that event loops can wait for.
#pragma once

namespace ringmain::platform {

/// An eventfd, non-blocking, closed on exec.
class Event {
public:
    /// Throws Error: limit (descriptors), io.
    Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event();

    [[nodiscard]] int descriptor() const noexcept { return fd_; }
    void signal() noexcept;
    void clear() noexcept;

private:
    int fd_;
};

}  // namespace ringmain::platform
