// Hold-ups and deaths of threads at the structures' failure points.
#include "concurrency/mortal_memory.hpp"

#include <chrono>
#include <thread>

namespace ringmain::test {

Fate& Fate::mine() noexcept {
    thread_local Fate fate;
    return fate;
}

void Fate::hold_up(std::uint64_t seed, std::uint32_t stops) noexcept {
    random_.seed(static_cast<std::minstd_rand::result_type>(seed | 1));
    stops_ = stops;
}

void Fate::point() noexcept {
    if (points_to_live_ != 0 && --points_to_live_ == 0)
        std::longjmp(death_, 1);
    if (stops_ == 0)
        return;
    const auto draw = static_cast<std::uint32_t>(random_());
    if (draw % stops_ != 0)
        return;
    if (draw % (8 * stops_) == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(draw % 100));
    } else {
        std::this_thread::yield();
    }
}

}  // namespace ringmain::test
