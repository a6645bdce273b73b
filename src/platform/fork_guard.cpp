// Detecting that a handle was inherited through fork(), by a page that the kernel wipes in the child.
#include "platform/fork_guard.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "platform/random.hpp"

namespace ringmain::platform {

namespace {

using Word = std::atomic<std::uint64_t>;

constinit Word g_plain_word{0};  // for kernels without MADV_WIPEONFORK; a fork handler wipes it

// relaxed: the child has one thread
void wipe_plain_word() noexcept { g_plain_word.store(0, std::memory_order_relaxed); }

Word* make_word() noexcept {
    const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        if (::madvise(page, bytes, MADV_WIPEONFORK) == 0)
            return new (page) Word(0);
        ::munmap(page, bytes);
    }
    ::pthread_atfork(nullptr, nullptr, wipe_plain_word);
    return &g_plain_word;
}

Word& process_word() noexcept {
    static Word* const word = make_word();
    return *word;
}

// Made when the library is loaded: made later, a fork() in the middle of it would leave the child with half of it.
[[maybe_unused]] Word& g_early = process_word();

// The value of this process, chosen at its first use; no ancestor's handle remembers it.
std::uint64_t value_of(Word& word) noexcept {
    // relaxed throughout: only the value of this one word matters
    std::uint64_t value = word.load(std::memory_order_relaxed);
    if (value != 0)
        return value;
    const std::uint64_t fresh = random_word() | 1;
    // lost: another thread was first, and `value` is what it chose; the word leaves 0 once per process, so no ABA
    return word.compare_exchange_strong(value, fresh, std::memory_order_relaxed) ? fresh : value;
}

}  // namespace

ForkGuard::ForkGuard() noexcept : word_(&process_word()), mine_(value_of(process_word())) {}

}  // namespace ringmain::platform
