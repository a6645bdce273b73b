// Reading lines.
#include "line_reader.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "errors.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

constexpr std::size_t kFirstBufferBytes = 1 << 18;

}  // namespace

LineReader::LineReader(int descriptor, std::string name, std::uint64_t line_bytes_max)
    : descriptor_(descriptor), name_(std::move(name)), line_bytes_max_(line_bytes_max), buffer_(kFirstBufferBytes) {}

bool LineReader::fill() {
    if (ended_ || stopped_)
        return false;
    make_room();
    const std::size_t bytes = read_some(buffer_.data() + end_, buffer_.size() - end_);
    end_ += bytes;
    ended_ = bytes == 0 && !stopped_;
    return !stopped_;
}

std::optional<LineReader::Line> LineReader::next() {
    const char* from = buffer_.data() + scanned_;
    const void* newline = std::memchr(from, '\n', end_ - scanned_);
    if (newline != nullptr) {
        const auto line_end = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
        return take(line_end, line_end + 1);
    }
    scanned_ = end_;
    if (ended_ && (begin_ < end_ || dropped_bytes_ > 0))
        return take(end_, end_);
    return std::nullopt;
}

LineReader::Line LineReader::take(std::size_t line_end, std::size_t next_begin) {
    const Line line{{buffer_.data() + begin_, line_end - begin_}, dropped_bytes_ + (line_end - begin_)};
    begin_ = next_begin;
    scanned_ = next_begin;
    dropped_bytes_ = 0;
    return line;
}

void LineReader::make_room() {
    if (end_ - begin_ > line_bytes_max_ || dropped_bytes_ > 0) {  // too long: from here on only its length matters
        dropped_bytes_ += end_ - begin_;
        begin_ = end_;
    }
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    scanned_ = end_;
    if (end_ == buffer_.size())
        buffer_.resize(2 * buffer_.size());
}

std::size_t LineReader::read_some(char* to, std::size_t bytes_max) {
    while (!stop_requested()) {
        const ssize_t bytes = ::read(descriptor_, to, bytes_max);
        if (bytes >= 0)
            return static_cast<std::size_t>(bytes);
        if (errno != EINTR) {
            throw CommandError(fmt::format("{}: cannot read: {}", name_, std::generic_category().message(errno)));
        }
    }
    stopped_ = true;
    return 0;
}

}  // namespace ringmain::cli
