// Mapping the board.
#include "demo_board.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <new>
#include <system_error>

namespace ringmain::cli::demo {

BoardPointer make_board() {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "demo: shared memory for the children");
    return BoardPointer(new (memory) Board);
}

void BoardUnmap::operator()(Board* board) const noexcept { ::munmap(board, sizeof(Board)); }

void KeyLine::store(std::string_view key_text, const KeySummary& summary) noexcept {
    set_text(key, key_text);
    set_text(last, summary.last);
    count = summary.count;
    min = summary.min;
    max = summary.max;
}

void set_text(std::span<char> to, std::string_view text) noexcept {
    const std::size_t length = std::min(text.size(), to.size() - 1);
    std::copy_n(text.begin(), length, to.begin());
    to[length] = '\0';
}

std::int64_t wall_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace ringmain::cli::demo
