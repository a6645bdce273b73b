// Surviving the truncation of mapped files: SIGBUS in one of the library's own mappings ends nobody.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringmain::platform {

/// Called in a signal handler with the memory that takes a file's place, all zeros, before anybody can see it there.
/// May store into that memory and into lock-free words of its own object, and nothing else.
using Replacement = void (*)(std::byte* memory, std::uint64_t bytes, void* object) noexcept;

/// A mapping that the guard knows. In the registry while it lives; move-only by its owner: not movable itself.
/// Registering is lock-free, and usable in a fork()ed child.
class GuardedRange {
public:
    /// Throws std::bad_alloc.
    GuardedRange(std::byte* data, std::uint64_t bytes);
    GuardedRange(const GuardedRange&) = delete;
    GuardedRange& operator=(const GuardedRange&) = delete;
    ~GuardedRange();

    /// Pages of the file were missing when they were touched: the whole range is private memory since then, shared with
    /// nobody, and never becomes a file again.
    [[nodiscard]] bool replaced() const noexcept;
    /// Call it in the thread that uses the mapping. `object` must outlive the range, or be taken back by another call.
    void on_replacement(Replacement call, void* object) noexcept;

    struct Slot;

private:
    Slot* slot_;
};

/// From now on a SIGBUS of a missing page in a guarded range replaces the range by private memory, and the instruction
/// goes on there. Every other SIGBUS, and one that cannot be helped, goes to who handled the signal before. Idempotent,
/// any thread. Throws Error io.
void install_truncation_guard();

}  // namespace ringmain::platform
