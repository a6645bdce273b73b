// Cutting an input into lines of any length, byte by byte as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::cli {

/// Reads a descriptor and hands out its lines without the newline. A last line without one counts.
///
///   while (reader.fill())                    // may wait for input
///       while (auto line = reader.next())    // never waits
///           …
///
/// So whoever publishes what it collected before each fill() delays nothing that was typed, and yet gets many lines at
/// a time from a pipe or a file.
class LineReader {
public:
    struct Line {
        std::string_view text;    ///< Valid until the next fill(). Only part of the line if that is too long.
        std::uint64_t bytes = 0;  ///< The whole line, also if it is longer than the limit.
    };

    /// `name` is for error messages. Of lines longer than `line_bytes_max` only the length is kept.
    LineReader(int descriptor, std::string name, std::uint64_t line_bytes_max);

    /// Reads once, waiting if it must. False if all input was read before, or a signal asked to stop: then the line
    /// that was not complete is dropped. Throws CommandError naming the input and errno.
    bool fill();

    /// The next line, if it is there.
    [[nodiscard]] std::optional<Line> next();

private:
    [[nodiscard]] std::size_t read_some(char* to, std::size_t bytes_max);
    void make_room();
    [[nodiscard]] Line take(std::size_t line_end, std::size_t next_begin);

    int descriptor_;
    std::string name_;
    std::uint64_t line_bytes_max_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;            ///< First byte not handed out.
    std::size_t scanned_ = 0;          ///< No newline in [begin_, scanned_).
    std::size_t end_ = 0;              ///< End of what was read.
    std::uint64_t dropped_bytes_ = 0;  ///< Of a line that is too long: bytes no longer in the buffer.
    bool ended_ = false;
    bool stopped_ = false;
};

}  // namespace ringmain::cli
