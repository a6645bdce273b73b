// Lies that are worth telling.
#include "hostile/oracle_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ringmain::test {

namespace {

constexpr std::uint64_t kAccessesMax = 2'000'000;  // a call that needs more does not end

}  // namespace

void Oracle::begin(std::uint64_t seed, unsigned lies_per_256) noexcept {
    state_ = seed | 1;
    lies_per_256_ = lies_per_256;
    accesses_ = 0;
    accesses_max_ = 0;
}

std::uint64_t Oracle::random() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1dULL;
}

bool Oracle::lies() noexcept {
    accesses_max_ = std::max(accesses_max_, ++accesses_);
    if (accesses_ > kAccessesMax) {
        std::fprintf(stderr, "%s has accessed shared memory %llu times and does not end\n", call_,
                     static_cast<unsigned long long>(accesses_));
        std::abort();
    }
    return lies_per_256_ != 0 && (random() >> 56) < lies_per_256_;
}

std::uint64_t Oracle::lie(std::uint64_t truth) noexcept {
    const std::uint64_t draw = random() >> 32;
    switch (draw % 12) {
        case 0:
            return last_lie_;  // the same lie again
        case 1:
            return last_lie_ = random();
        case 2:
            return last_lie_ = random() >> (draw % 64);
        case 3:
            return last_lie_ = truth + draw % 8;
        case 4:
            return last_lie_ = truth - draw % 8;
        case 5:
            return last_lie_ = truth ^ (std::uint64_t{1} << (draw % 64));
        case 6:
            return last_lie_ = truth ^ (draw & 3);  // another state of the same offset
        case 7:
            return last_lie_ = truth + (std::uint64_t{16} << (draw % 4));  // about a lap
        case 8:
            return last_lie_ = ~std::uint64_t{0} - draw % 4;
        case 9:
            return last_lie_ = std::uint64_t{1} << (56 + draw % 8);
        case 10:
            return last_lie_ = truth << 2 | (draw & 3);
        default:
            return last_lie_ = 0;
    }
}

void Oracle::distort(std::byte* bytes, std::size_t count) noexcept {
    for (std::uint64_t i = random() % 4; i != ~std::uint64_t{0}; --i) {
        const std::size_t at = random() % count;
        const std::size_t run = std::min<std::size_t>(count - at, 1 + random() % 8);
        const std::uint64_t noise = (random() & 3) == 0 ? ~std::uint64_t{0} : random();
        std::memcpy(bytes + at, &noise, std::min(run, sizeof noise));
    }
}

}  // namespace ringmain::test
