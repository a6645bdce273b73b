// What the demo says while it runs: events, and one line of progress.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace ringmain::cli::demo {

/// On a terminal the progress line is rewritten in place; elsewhere it is a plain line once a second.
class Narrator {
public:
    explicit Narrator(std::FILE* stream);
    Narrator(const Narrator&) = delete;
    Narrator& operator=(const Narrator&) = delete;
    ~Narrator();

    /// The time that lines begin with, from 0 s on.
    void start_clock() noexcept;
    [[nodiscard]] std::int64_t elapsed_ns() const noexcept;

    void event(std::string_view text);
    /// Whether it is time for another progress line.
    [[nodiscard]] bool progress_due() const noexcept;
    void progress(std::string_view text);

private:
    void clear_line();
    void write(std::string_view text);

    std::FILE* stream_;
    bool terminal_;
    bool line_open_ = false;
    std::int64_t started_ns_ = 0;
    std::int64_t next_progress_ns_ = 0;
};

}  // namespace ringmain::cli::demo
