// Bytes that stop or kill the process that copies them: a chosen instruction inside somebody else's publish.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringmain::bench {

/// The last bytes of a record that lie on a page nobody may read. The copy that touches it is interrupted in the
/// middle: the signal handler stores the time in `sprung_at` and sends `signal` (SIGKILL or SIGSTOP) to the process
/// itself.
class Trap {
public:
    /// One per process. Throws std::system_error.
    Trap(int signal, std::atomic<std::uint64_t>& sprung_at);
    ~Trap();
    Trap(const Trap&) = delete;
    Trap& operator=(const Trap&) = delete;

    /// A record of `bytes` (at least 16) of which the second half cannot be read; it is aligned to 8.
    [[nodiscard]] std::byte* record(std::size_t bytes) const noexcept;

private:
    std::byte* pages_ = nullptr;
    std::size_t page_bytes_ = 0;
};

}  // namespace ringmain::bench
