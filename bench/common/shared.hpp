// Memory that a parent shares with the children it forks, and the barrier they start at.
#pragma once

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <system_error>
#include <type_traits>

#include "bench/common/ticks.hpp"

namespace ringmain::bench {

/// One T in an anonymous shared mapping. Made before the fork; parent and children see the same object.
template <class T>
class Shared {
    static_assert(std::is_trivially_destructible_v<T>, "nobody knows who would be the last to destroy it");

public:
    Shared() : Shared(sizeof(T)) { new (memory_) T(); }
    ~Shared() { ::munmap(memory_, bytes_); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    /// Room for more than one T, zeroed and touched page by page.
    static Shared array(std::size_t count) { return Shared(count * sizeof(T)); }

    T* get() const noexcept { return static_cast<T*>(memory_); }
    T* operator->() const noexcept { return get(); }
    T& operator*() const noexcept { return *get(); }

private:
    explicit Shared(std::size_t bytes) : bytes_(bytes) {
        memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory_ == MAP_FAILED)
            throw std::system_error(errno, std::generic_category(), "mmap of a shared area");
    }

    std::size_t bytes_;
    void* memory_ = nullptr;
};

/// Reads one byte of each page: a forked child meets the pages of a shared mapping anew, and not in measured time.
inline void touch_pages(const void* memory, std::size_t bytes) noexcept {
    const auto* at = static_cast<const volatile unsigned char*>(memory);
    for (std::size_t i = 0; i < bytes; i += 4096)
        (void)at[i];
}

/// All parties leave together; parties that share a core give it away while they wait.
class StartBarrier {
public:
    void arrive_and_wait(std::uint32_t parties) noexcept {
        arrived_.fetch_add(1, std::memory_order_acq_rel);
        for (std::uint32_t spins = 0; arrived_.load(std::memory_order_acquire) < parties; ++spins) {
            cpu_relax();
            if (spins % 1024 == 1023)
                ::sched_yield();
        }
    }

private:
    std::atomic<std::uint32_t> arrived_{0};
};

}  // namespace ringmain::bench
