// Two pages, one of them closed, and the handler of the fault.
#include "bench/common/trap.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "bench/common/ticks.hpp"

namespace ringmain::bench {
namespace {

std::atomic<std::uint64_t>* sprung = nullptr;
int last_signal = 0;

void spring(int) {
    sprung->store(ticks_now(), std::memory_order_release);
    ::kill(::getpid(), last_signal);
    for (;;)
        ::pause();  // somebody sent SIGCONT: what it stands for never goes on
}

}  // namespace

Trap::Trap(int signal, std::atomic<std::uint64_t>& sprung_at)
    : page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    void* pages =
        ::mmap(nullptr, 2 * page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (pages == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "mmap of a trap");
    pages_ = static_cast<std::byte*>(pages);
    sprung = &sprung_at;
    last_signal = signal;
    struct sigaction action {};
    action.sa_handler = spring;
    if (::mprotect(pages_ + page_bytes_, page_bytes_, PROT_NONE) != 0 || ::sigaction(SIGSEGV, &action, nullptr) != 0)
        throw std::system_error(errno, std::generic_category(), "setting a trap");
}

Trap::~Trap() { ::munmap(pages_, 2 * page_bytes_); }

std::byte* Trap::record(std::size_t bytes) const noexcept { return pages_ + page_bytes_ - bytes / 16 * 8; }

}  // namespace ringmain::bench
