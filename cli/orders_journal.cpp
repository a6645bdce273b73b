// Mapping the memory of a journal.
#include "orders_journal.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ringmain::cli::orders {

JournalMemory::JournalMemory(std::size_t bytes) : bytes_(bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "demo: shared memory for a journal");
    data_ = memory;
}

JournalMemory::JournalMemory(JournalMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

JournalMemory::~JournalMemory() {
    if (data_ != nullptr)
        ::munmap(data_, bytes_);
}

}  // namespace ringmain::cli::orders
