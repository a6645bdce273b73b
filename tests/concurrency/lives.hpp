// Who is alive, in a world of threads: the oracle that the structures ask instead of the kernel.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ringmain::test {

/// Every life of an actor has an owner word of its own, like a client's incarnation.
class Lives {
public:
    /// Begins a life and returns its owner word.
    std::uint64_t begin(std::uint32_t actor) noexcept {
        const std::uint64_t life = next_.fetch_add(1, std::memory_order_relaxed);  // relaxed: only distinct
        if (life >= kLivesMax) {
            std::fprintf(stderr, "more than %llu lives\n", static_cast<unsigned long long>(kLivesMax));
            std::abort();
        }
        return life << 32 | (actor + 1);
    }
    /// The life ended; whoever learns of it also sees everything that it did.
    void end(std::uint64_t owner) noexcept { dead_[index(owner)].store(true, std::memory_order_release); }

    struct IsDead {
        const Lives* lives = nullptr;
        bool operator()(std::uint64_t owner) const noexcept {
            return lives->dead_[index(owner)].load(std::memory_order_acquire);
        }
    };
    [[nodiscard]] IsDead is_dead() const noexcept { return {this}; }

private:
    static constexpr std::uint64_t kLivesMax = 1 << 20;
    static std::uint64_t index(std::uint64_t owner) noexcept { return (owner >> 32) % kLivesMax; }

    std::array<std::atomic<bool>, kLivesMax> dead_{};
    std::atomic<std::uint64_t> next_{1};
};

}  // namespace ringmain::test
