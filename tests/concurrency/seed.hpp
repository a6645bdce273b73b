// Seeds of random tests: printed, and taken from RINGMAIN_SEED so that a failure can be repeated.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringmain::test {

/// The seed for a test case, printed under its name.
[[nodiscard]] std::uint64_t seed_for(std::string_view test);

/// A number from the environment, or `otherwise`.
[[nodiscard]] std::uint64_t from_environment(const char* name, std::uint64_t otherwise);

/// Seeds for many actors from one: neighbours have nothing in common (splitmix64).
[[nodiscard]] constexpr std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t actor) noexcept {
    std::uint64_t z = seed + (actor + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

}  // namespace ringmain::test
