// Mapping the board.
#include "orders_board.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>

namespace ringmain::cli::orders {

Records::Records(std::uint64_t journal_entries, std::uint64_t label_entries) {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "demo: shared memory for the children");
    board.reset(new (memory) Board);
    journals.reserve(kMembers.size());
    for (std::size_t member = 0; member < kMembers.size(); ++member)
        journals.emplace_back(journal_entries);
    label_journals.reserve(kPrinters.size());
    for (std::size_t printer = 0; printer < kPrinters.size(); ++printer)
        label_journals.emplace_back(label_entries);
}

void BoardUnmap::operator()(Board* board) const noexcept { ::munmap(board, sizeof(Board)); }

std::int64_t now_ns() noexcept { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace ringmain::cli::orders
