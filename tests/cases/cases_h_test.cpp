// The partition that Kafka's Java client gives a key: published vectors, and keys that users of other clients lost.
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/broker.hpp"
#include "ringmain/partitioner.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;

namespace {

// The counts of partitions that the vectors were published for.
constexpr std::array<std::uint32_t, 6> kCounts = {3, 6, 7, 10, 12, 50};

struct Vector {
    std::string_view key;
    std::int32_t signed_hash;
    std::uint32_t hash;
    std::array<std::uint32_t, 6> partitions;  // for kCounts
};

constexpr std::array<Vector, 30> kVectors = {{
    {"21", -973932308, 0xc5f2f8ec, {0, 0, 3, 0, 0, 40}},
    {"foobar", -790332482, 0xd0e47bbe, {0, 0, 0, 6, 6, 16}},
    {"a-little-bit-long-string", -985981536, 0xc53b1da0, {2, 2, 1, 2, 8, 12}},
    {"a-little-bit-longer-string", -1486304829, 0xa768c9c3, {2, 5, 0, 9, 11, 19}},
    {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971, 0xfc7d49cd, {2, 5, 3, 7, 5, 27}},
    {"abc", 479470107, 0x1c94221b, {0, 3, 4, 7, 3, 7}},
    {"string-f-24-chars-length", 124730809, 0x076f3db9, {1, 1, 0, 9, 1, 9}},
    {"string-fo-25-chars-length", 1269511650, 0x4bab35e2, {0, 0, 1, 0, 6, 0}},
    {"string-foo-26-chars-length", 119165628, 0x071a52bc, {0, 0, 1, 8, 0, 28}},
    {"string-last-27-chars-length", 1089971754, 0x40f7a62a, {0, 0, 4, 4, 6, 4}},
    {"kafka", -798503068, 0xd067cf64, {1, 4, 3, 0, 4, 30}},
    {"giberish123456789", -1890243828, 0x8f552b0c, {2, 2, 5, 0, 8, 20}},
    {"1234", -1614185708, 0x9fc97b14, {0, 0, 0, 0, 0, 40}},
    {"234", -406844982, 0xe7c009ca, {2, 2, 4, 6, 2, 16}},
    {"34", -2026295078, 0x873930da, {0, 0, 6, 0, 6, 20}},
    {"4", 1514888353, 0x5a4b5ca1, {1, 1, 6, 3, 1, 3}},
    {"amqp", 767747138, 0x2dc2e442, {2, 2, 4, 8, 2, 38}},
    {"PreAmbleWillBeRemoved,ThePrePartThatIs", 2017611548, 0x78424f1c, {2, 2, 1, 8, 8, 48}},
    {"reAmbleWillBeRemoved,ThePrePartThatIs", 1247982455, 0x4a62b377, {2, 5, 6, 5, 11, 5}},
    {"eAmbleWillBeRemoved,ThePrePartThatIs", -521871202, 0xe0e4e09e, {1, 4, 3, 6, 10, 46}},
    {"AmbleWillBeRemoved,ThePrePartThatIs", 1656271935, 0x62b8b43f, {0, 3, 3, 5, 3, 35}},
    {"", 275646681, 0x106e08d9, {0, 3, 2, 1, 9, 31}},
    {"0", 971027396, 0x39e0b3c4, {2, 2, 3, 6, 8, 46}},
    {"1", -1993445489, 0x892e6f8f, {0, 3, 2, 9, 3, 9}},
    {"128", -326012175, 0xec9172f1, {2, 5, 3, 3, 5, 23}},
    {"2187", -1508407203, 0xa617885d, {2, 5, 0, 5, 5, 45}},
    {"16384", -325739742, 0xec959b22, {2, 2, 3, 6, 2, 6}},
    {"a", -1563381124, 0xa2d0b27c, {1, 4, 5, 4, 4, 24}},
    {"ab", 316155434, 0x12d8262a, {2, 2, 0, 4, 2, 34}},
    {"123456789", -1822237082, 0x9362de66, {0, 0, 1, 6, 6, 16}},
}};

void check_vector(const Vector& vector, Bytes key) {
    INFO("key '" << vector.key << "'");
    CHECK(murmur2(key) == vector.hash);
    CHECK(static_cast<std::int32_t>(murmur2(key)) == vector.signed_hash);
    for (std::size_t i = 0; i < kCounts.size(); ++i)
        CHECK(partition_for_key(key, kCounts[i]) == vector.partitions[i]);
}

}  // namespace

TEST_CASE("H01 A key goes to the partition that the Java client chooses") {
    for (const Vector& vector : kVectors)
        check_vector(vector, as_bytes(vector.key));
}

TEST_CASE("H01 Keys from user reports go where Java sends them, not where the other client sent them") {
    struct Report {
        std::string_view key;
        std::uint32_t partitions;
        std::uint32_t right;
        std::int32_t signed_hash;
    };
    constexpr std::array<Report, 6> kReports = {{
        {"354afe16-939a-4ea8-8e17-8bb0840b6886", 10, 4, 983768104},
        {"f562ac3b-2224-4e25-a0ab-56094e10c239", 10, 5, -377816373},
        {"fd7af248-ce5c-46a5-93d7-1c0c9005b99d", 32, 26, -147180742},
        {"TT0124", 15, 10, -1442328778},
        {"Struct{documentKey={\"_id\": \"638d1b94ce8def06be68b439\"}}", 50, 40, -327499208},
        {"thing\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x84\xc3\x96\xc3\x9c", 10, 2, 215785582},
    }};
    for (const Report& report : kReports) {
        INFO("key '" << report.key << "'");
        CHECK(static_cast<std::int32_t>(murmur2(as_bytes(report.key))) == report.signed_hash);
        CHECK(partition_for_key(as_bytes(report.key), report.partitions) == report.right);
    }
}

TEST_CASE("H02 A negative hash is masked, neither taken as unsigned nor made absolute") {
    CHECK(partition_for_key(as_bytes("foobar"), 10) == 6);
    CHECK(partition_for_key(as_bytes("kafka"), 10) == 0);
    CHECK(partition_for_key(as_bytes("a-little-bit-longer-string"), 10) == 9);
}

TEST_CASE("H03 A key that is not ASCII is hashed by its UTF-8 bytes") {
    CHECK(partition_for_key(as_bytes("thing\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x84\xc3\x96\xc3\x9c"), 10) == 2);
}

TEST_CASE("H04 The last one, two or three bytes of a key count") {
    CHECK(partition_for_key(as_bytes("a"), 1000) == 524);
    CHECK(partition_for_key(as_bytes("ab"), 1000) == 434);
    CHECK(partition_for_key(as_bytes("abc"), 1000) == 107);
    CHECK(partition_for_key(as_bytes("123456789"), 1000) == 566);
    CHECK(partition_for_key(as_bytes(std::string_view("\0 ", 2)), 1000) == 742);
}

TEST_CASE("H05 An empty key is a key: it is hashed") {
    CHECK(murmur2({}) == 0x106e08d9);
    CHECK(partition_for_key({}, 10) == 1);
    CHECK(partition_for_key({}, 12) == 9);
    CHECK(partition_for_key({}, 1000) == 681);
}

TEST_CASE("H05 A producer sends empty keys to one partition and spreads null keys") {
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options;
    options.partitions = 10;
    options.records = 1024;
    options.payload_bytes = 0;
    broker.create_topic("keys", options);
    Producer producer(broker, "keys");

    std::map<std::uint32_t, int> of_empty;
    std::map<std::uint32_t, int> of_null;
    for (int i = 0; i < 100; ++i) {
        ProducerRecord record;
        record.value = as_bytes("v");
        const PublishResult spread = producer.publish(record);
        record.key = Bytes{};
        const PublishResult fixed = producer.publish(record);
        REQUIRE(spread.status == Status::ok);
        REQUIRE(fixed.status == Status::ok);
        ++of_null[spread.partition];
        ++of_empty[fixed.partition];
    }
    CHECK(of_empty == std::map<std::uint32_t, int>{{1, 100}});
    CHECK(of_null.size() == 10);
}

TEST_CASE("H08 A key may lie at any address") {
    for (const Vector& vector : kVectors) {
        std::vector<std::byte> buffer(vector.key.size() + 8);
        for (std::size_t shift = 0; shift < 8; ++shift) {
            if (!vector.key.empty())
                std::memcpy(buffer.data() + shift, vector.key.data(), vector.key.size());
            check_vector(vector, Bytes(buffer.data() + shift, vector.key.size()));
        }
    }
}

TEST_CASE("H09 A topic is not silently used with another number of partitions") {
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options;
    options.records = 1024;
    options.partitions = 3;
    broker.create_topic("keys", options);
    options.partitions = 4;
    REQUIRE_THROWS_WITH(broker.ensure_topic("keys", options), test::contains("partitions 3, not 4"));
    CHECK(broker.describe_topic("keys").partitions.size() == 3);
}
