// Writing events and progress to a terminal or to anything else.
#include "demo_narrator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace ringmain::cli::demo {

namespace {

constexpr std::int64_t kTerminalInterval = 100'000'000;
constexpr std::int64_t kPlainInterval = 1'000'000'000;

std::int64_t steady_ns() noexcept { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

Narrator::Narrator(std::FILE* stream)
    : stream_(stream), terminal_(::isatty(::fileno(stream)) == 1), started_ns_(steady_ns()) {}

Narrator::~Narrator() { clear_line(); }

void Narrator::start_clock() noexcept {
    started_ns_ = steady_ns();
    next_progress_ns_ = 0;
}

std::int64_t Narrator::elapsed_ns() const noexcept { return steady_ns() - started_ns_; }

void Narrator::event(std::string_view text) {
    clear_line();
    write(fmt::format("{:6.2f} s  {}\n", static_cast<double>(elapsed_ns()) / 1e9, text));
}

bool Narrator::progress_due() const noexcept { return elapsed_ns() >= next_progress_ns_; }

void Narrator::progress(std::string_view text) {
    next_progress_ns_ = elapsed_ns() + (terminal_ ? kTerminalInterval : kPlainInterval);
    clear_line();
    write(fmt::format("{:6.2f} s  {}{}", static_cast<double>(elapsed_ns()) / 1e9, text, terminal_ ? "" : "\n"));
    line_open_ = terminal_;
}

void Narrator::clear_line() {
    if (line_open_)
        write("\r\x1b[K");
    line_open_ = false;
}

void Narrator::write(std::string_view text) {
    // Failing to narrate is no reason to stop: the report and the exit code say what matters.
    std::fwrite(text.data(), 1, text.size(), stream_);
    std::fflush(stream_);
}

}  // namespace ringmain::cli::demo
