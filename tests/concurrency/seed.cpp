// Seeds of random tests.
#include "concurrency/seed.hpp"

#include <cstdlib>
#include <iostream>
#include <random>

namespace ringmain::test {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::uint64_t seed_for(std::string_view test) {
    std::random_device device;
    const std::uint64_t seed = from_environment("RINGMAIN_SEED", device());
    std::cout << test << ": RINGMAIN_SEED=" << seed << std::endl;
    return seed;
}

}  // namespace ringmain::test
