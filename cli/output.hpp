// Standard output, buffered by us so that records appear when they are read and a closed pipe ends the program quietly.
#pragma once

#include <string>
#include <string_view>

namespace ringmain::cli {

/// Collects text and writes it to a descriptor. SIGPIPE must be ignored (see signals.hpp).
class Output {
public:
    explicit Output(int descriptor = 1) noexcept : descriptor_(descriptor) {}

    /// To append to. Call `spill` after each record and `flush` before waiting.
    [[nodiscard]] std::string& buffer() noexcept { return buffer_; }

    /// Writes once the buffer has grown large.
    void spill();

    /// Writes all. Throws Exit{kExitGood} if the reader of the pipe has gone: it has all it wanted; CommandError
    /// naming errno for any other failure.
    void flush();

    /// Ends the program as flush does if nobody can read what is written any more. To be called while waiting: writing
    /// would find out only with the next record.
    void check_reader() const;

private:
    int descriptor_;
    std::string buffer_;
};

/// Writes the text to standard output, as Output::flush does.
void print(std::string_view text);

}  // namespace ringmain::cli
