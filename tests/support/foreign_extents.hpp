// While it lives, AddressSanitizer reports every store into an extent that does not belong to one producer's tenure.
#pragma once

#include <cstdint>
#include <string_view>

#include "partition_log/cell_word.hpp"
#include "partition_log/log_memory.hpp"
#include "support/hooked_memory.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define RINGMAIN_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RINGMAIN_ASAN 1
#endif
#endif
#if defined(RINGMAIN_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace ringmain::test {

/// Its fences are named points too: a producer fences between taking an extent and its first store there.
struct OwnExtentMemory : HookedMemory {
    static void fence(std::memory_order order) noexcept {
        HookedMemory::fence(order);
        point("fence");
    }
};

/// One thread, and no reader meanwhile: readers may look at every extent. Follows what the producer takes and seals.
class ForeignExtents {
public:
    using Log = partition_log::LogMemory<OwnExtentMemory>;

    ForeignExtents(const Log& log, std::uint32_t slot, std::uint64_t generation)
        : log_(log), mine_(partition_log::owned_extent(slot, generation)), scope_([this](std::string_view) { mark(); }) {
        mark();
    }
    ~ForeignExtents() { set(0, log_.extent_count * log_.extent_bytes, false); }
    ForeignExtents(const ForeignExtents&) = delete;
    ForeignExtents& operator=(const ForeignExtents&) = delete;

    [[nodiscard]] static constexpr bool enforced() noexcept {
#if defined(RINGMAIN_ASAN)
        return true;
#else
        return false;
#endif
    }
    static constexpr int kReported = 1;  // exit code of a process that AddressSanitizer ended

private:
    void mark() const noexcept {
        for (std::uint32_t i = 0; i < log_.extent_count; ++i) {
            const bool mine = log_.extents[i].word.load(std::memory_order_acquire) == mine_;
            set(i * log_.extent_bytes, log_.extent_bytes, !mine);
        }
    }
    void set([[maybe_unused]] std::uint64_t at, [[maybe_unused]] std::uint64_t bytes, [[maybe_unused]] bool poisoned) const noexcept {
#if defined(RINGMAIN_ASAN)
        if (poisoned)
            ASAN_POISON_MEMORY_REGION(log_.payload + at, bytes);
        else
            ASAN_UNPOISON_MEMORY_REGION(log_.payload + at, bytes);
#endif
    }

    Log log_;
    std::uint64_t mine_;
    HookedMemory::Scope scope_;
};

}  // namespace ringmain::test
