// Kafka's partitioner: published vectors, any alignment.
#include "ringmain/partitioner.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "support/catch.hpp"

using ringmain::as_bytes;
using ringmain::murmur2;
using ringmain::partition_for_key;

namespace {

// The definition in other words, over whole little-endian words assembled arithmetically: an independent second
// opinion.
std::uint32_t reference_murmur2(const std::string& key) {
    const std::uint64_t mask = 0xffffffff;
    const std::uint64_t m = 0x5bd1e995;
    std::uint64_t h = (0x9747b28c ^ key.size()) & mask;
    std::size_t i = 0;
    for (; i + 4 <= key.size(); i += 4) {
        std::uint64_t k = 0;
        for (std::size_t b = 4; b-- > 0;)
            k = k * 256 + static_cast<unsigned char>(key[i + b]);
        k = k * m & mask;
        k ^= k >> 24;
        k = k * m & mask;
        h = (h * m & mask) ^ k;
    }
    if (i < key.size()) {
        std::uint64_t tail = 0;
        for (std::size_t b = key.size(); b-- > i;)
            tail = tail * 256 + static_cast<unsigned char>(key[b]);
        h = (h ^ tail) * m & mask;
    }
    h ^= h >> 13;
    h = h * m & mask;
    return static_cast<std::uint32_t>(h ^ h >> 15);
}

}  // namespace

TEST_CASE("The partitioner agrees with an independent implementation at every length") {
    std::string key;
    for (int length = 0; length < 300; ++length) {
        REQUIRE(murmur2(as_bytes(key)) == reference_murmur2(key));
        key += static_cast<char>(length * 37 + 200);  // bytes above 127 as well
    }
}

TEST_CASE("A partition number is always below the number of partitions") {
    for (const std::uint32_t partitions : {1U, 2U, 3U, 7U, 1024U, 0x7fffffffU, 0xffffffffU}) {
        for (const char* const key : {"", "a", "foobar", "kafka", "a-little-bit-longer-string"}) {
            REQUIRE(partition_for_key(as_bytes(key), partitions) < partitions);
        }
    }
}
