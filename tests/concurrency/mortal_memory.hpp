// A memory policy under which threads behave like processes: at every failure point of the structures the calling
// thread may be held up for a while, or die right there.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <random>

#include "platform/memory.hpp"

namespace ringmain::test {

/// What happens to the calling thread at failure points.
class Fate {
public:
    /// The calling thread's own. Begins with no accidents.
    static Fate& mine() noexcept;

    /// One in `stops` points holds the thread up, for up to about 100 us. 0: never.
    void hold_up(std::uint64_t seed, std::uint32_t stops) noexcept;

    /// Runs `work`; the thread dies at its `points`-th failure point: `work` is left there, nothing is undone. Returns
    /// whether it came to its end alive. Objects that `work` creates must be trivially destructible.
    template <class Work>
    [[gnu::noinline]] bool survives(std::uint32_t points, Work&& work) noexcept {
        points_to_live_ = points;
        if (setjmp(death_) != 0)
            return false;
        work();
        points_to_live_ = 0;
        return true;
    }

    void point() noexcept;

private:
    std::jmp_buf death_;
    std::uint32_t points_to_live_ = 0;  // 0: immortal
    std::uint32_t stops_ = 0;
    std::minstd_rand random_;
};

struct MortalMemory : platform::HostMemory {
    static void point(const char*) noexcept { Fate::mine().point(); }
};

}  // namespace ringmain::test
