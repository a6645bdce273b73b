// Where log lines go: a descriptor that is written to without ever waiting for its reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringmain::daemon {

/// Lines that cannot be written (nobody reads the pipe, the disk is full, it was closed) are lost and counted; with the
/// next line that can be written it is said how many. Not thread-safe.
class LogStream {
public:
    /// Pipes and terminals are opened anew where that is allowed, so that not waiting is nobody else's business.
    explicit LogStream(int descriptor);
    LogStream(const LogStream&) = delete;
    LogStream& operator=(const LogStream&) = delete;
    ~LogStream();

    /// `line` ends with a newline. False: it is lost.
    bool write(std::string_view line) noexcept;
    [[nodiscard]] std::uint64_t lost_lines() const noexcept { return lost_lines_; }
    void forget_lost_lines() noexcept { lost_lines_ = 0; }

private:
    enum class Kind : std::uint8_t { waits, never_waits, socket };

    [[nodiscard]] bool finish_unfinished() noexcept;
    [[nodiscard]] long write_some(std::string_view text) noexcept;

    int descriptor_;
    Kind kind_ = Kind::waits;
    std::string unfinished_;  // the rest of a line of which a part was written
    std::uint64_t lost_lines_ = 0;
};

}  // namespace ringmain::daemon
