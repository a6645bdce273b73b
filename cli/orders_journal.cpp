// Mapping a journal, and appending to it.
#include "orders_journal.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ringmain::cli::orders {

Journal::Journal(std::uint64_t entries_max) : entries_max_(entries_max) {
    void* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "demo: shared memory for a journal");
    header_ = new (memory) Header;
}

Journal::Journal(Journal&& other) noexcept
    : header_(std::exchange(other.header_, nullptr)), entries_max_(other.entries_max_) {}

Journal::~Journal() {
    if (header_ != nullptr)
        ::munmap(header_, bytes());
}

void Journal::append(const Entry& entry) {
    const std::uint64_t count = header_->count.load(std::memory_order_relaxed);  // relaxed: written here alone
    if (count == entries_max_)
        throw std::runtime_error("the journal is full");
    new (first() + count) Entry(entry);
    header_->count.store(count + 1, std::memory_order_release);  // release JOURNAL_ENTRY
}

std::span<const Entry> Journal::entries() const noexcept {
    return {first(), header_->count.load(std::memory_order_acquire)};  // acquire JOURNAL_ENTRY
}

}  // namespace ringmain::cli::orders
