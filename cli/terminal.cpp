// A terminal by ANSI sequences: what every terminal since the VT100 and its successors understands.
#include "terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "output.hpp"

namespace ringmain::cli {

namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// While the process ends there is nobody to tell that the terminal has gone.
void write_unheard(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written > 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (written == 0 || errno != EINTR)
            return;
    }
}

struct Sequence {
    std::string_view text;
    Key key;
};

constexpr std::array kSequences = {
    Sequence{"\x1b[A", Key::up},   Sequence{"\x1b[B", Key::down},     Sequence{"\x1bOA", Key::up},
    Sequence{"\x1bOB", Key::down}, Sequence{"\x1b[5~", Key::page_up}, Sequence{"\x1b[6~", Key::page_down},
    Sequence{"\x1b[H", Key::home}, Sequence{"\x1b[F", Key::end},      Sequence{"\x1b[1~", Key::home},
    Sequence{"\x1b[4~", Key::end}, Sequence{"\x1bOH", Key::home},     Sequence{"\x1bOF", Key::end},
};

/// How long the sequence at the front is: ESC, '[' or 'O', parameters, a letter or '~'. 0: its end has not come yet.
std::size_t sequence_length(std::string_view read) noexcept {
    if (read.size() < 2)
        return 0;
    if (read[1] != '[' && read[1] != 'O')
        return 1;
    for (std::size_t at = 2; at < read.size(); ++at) {
        if (read[at] >= '@' && read[at] <= '~')
            return at + 1;
    }
    return 0;
}

KeyPress meaning_of(std::string_view sequence) noexcept {
    for (const Sequence& known : kSequences) {
        if (known.text == sequence)
            return {known.key, 0};
    }
    return {};
}

}  // namespace

std::vector<KeyPress> take_keys(std::string& read, bool all) {
    std::vector<KeyPress> keys;
    while (!read.empty()) {
        if (read.front() != '\x1b') {
            keys.push_back({Key::other, read.front()});
            read.erase(0, 1);
            continue;
        }
        const std::size_t length = sequence_length(read);
        if (length == 0 && !all)
            break;
        keys.push_back(meaning_of(std::string_view(read).substr(0, length)));
        read.erase(0, length == 0 ? read.size() : length);
    }
    return keys;
}

Terminal::Terminal(int input, int output) : input_(input), output_(output) {
    has_keys_ = ::tcgetattr(input_, &before_) == 0;
    if (has_keys_) {
        termios ours = before_;
        ours.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        ours.c_cc[VMIN] = 0;
        ours.c_cc[VTIME] = 0;
        ours.c_cc[VSUSP] = _POSIX_VDISABLE;  // stopped, it would leave the shell with our screen
        ::tcsetattr(input_, TCSANOW, &ours);
    }
    write_unheard(output_, kEnter);
}

Terminal::~Terminal() {
    write_unheard(output_, kLeave);
    if (has_keys_)
        ::tcsetattr(input_, TCSANOW, &before_);
}

ScreenSize Terminal::size() const noexcept {
    winsize size{};
    if (::ioctl(output_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return {};
    return {size.ws_row, size.ws_col};
}

void Terminal::show(const std::vector<TopLine>& lines) {
    Output screen(output_);
    std::string& text = screen.buffer();
    text.append("\x1b[H");
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i != 0)
            text.append("\r\n");
        text.append(lines[i].heading ? "\x1b[7m" : "")
            .append(lines[i].text)
            .append(lines[i].heading ? "\x1b[0m" : "")
            .append("\x1b[K");
    }
    text.append("\x1b[J");
    screen.flush();
}

std::vector<KeyPress> Terminal::wait_for_keys(int timeout_ms) {
    pollfd keys{has_keys_ ? input_ : -1, POLLIN, 0};
    const bool pending = !read_.empty();
    if (::poll(&keys, 1, timeout_ms) <= 0)
        return take_keys(read_, pending);
    std::array<char, 256> chunk{};
    const ssize_t bytes = ::read(input_, chunk.data(), chunk.size());
    if (bytes > 0)
        read_.append(chunk.data(), static_cast<std::size_t>(bytes));
    else if (bytes == 0 || errno != EINTR)
        has_keys_ = false;  // it was closed
    return take_keys(read_, false);
}

}  // namespace ringmain::cli
