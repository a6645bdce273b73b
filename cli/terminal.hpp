// A terminal that a program has for itself, and that is left as it was found.
#pragma once

#include <termios.h>
#include <string>
#include <string_view>
#include <vector>

#include "top_frame.hpp"

namespace ringmain::cli {

enum class Key : std::uint8_t { up, down, page_up, page_down, home, end, other };

struct KeyPress {
    Key key = Key::other;
    char character = 0;  ///< Of `other`; 0: a sequence that means nothing here.
};

/// Takes whole keys off the front of what was read; the beginning of a sequence stays, unless `all`.
[[nodiscard]] std::vector<KeyPress> take_keys(std::string& read, bool all);

/// The alternate screen without a cursor, keys as they are pressed; ^C still interrupts. The destructor gives back what
/// was.
class Terminal {
public:
    /// `output` is a terminal; `input` need not be one, and then there are no keys.
    Terminal(int input, int output);
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();

    [[nodiscard]] ScreenSize size() const noexcept;
    void show(const std::vector<TopLine>& lines);
    /// Waits for keys at most so long, and less if a signal comes.
    [[nodiscard]] std::vector<KeyPress> wait_for_keys(int timeout_ms);

private:
    int input_;
    int output_;
    bool has_keys_ = false;
    termios before_{};
    std::string read_;
};

}  // namespace ringmain::cli
