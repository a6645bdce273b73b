// Reading files as a whole.
#include "whole_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "errors.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) {
    throw CommandError(fmt::format("{}: cannot {}: {}", path, what, std::generic_category().message(errno)));
}

/// An open input; "-" is not closed.
class Input {
public:
    explicit Input(const std::string& path)
        : descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (descriptor_ < 0)
            fail(path, "open");
    }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;
    ~Input() {
        if (descriptor_ != STDIN_FILENO)
            ::close(descriptor_);
    }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace

WholeInput read_whole(const std::string& path, std::uint64_t bytes_max) {
    const Input input(path);
    WholeInput whole;
    std::array<char, 1 << 16> chunk;
    while (!stop_requested()) {
        const ssize_t bytes = ::read(input.descriptor(), chunk.data(), chunk.size());
        if (bytes == 0)
            return whole;
        if (bytes < 0 && errno != EINTR)
            fail(path, "read");
        if (bytes < 0)
            continue;
        const auto count = static_cast<std::uint64_t>(bytes);
        whole.content.append(chunk.data(), static_cast<std::size_t>(std::min(count, bytes_max - whole.content.size())));
        whole.bytes += count;
    }
    throw CommandError(fmt::format("{}: stopped while reading", path));
}

}  // namespace ringmain::cli
