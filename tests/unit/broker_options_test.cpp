// Which options and names a topic may have, and what they give.
#include <algorithm>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "partition_log/log_memory.hpp"
#include "platform/memory.hpp"
#include "ringmain/error.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "topic_geometry.hpp"
#include "topic_name.hpp"

using namespace ringmain;
using test::thrown_by;

namespace {

test::Thrown refusal(const std::function<void(TopicOptions&)>& change) {
    TopicOptions options;
    change(options);
    return thrown_by([&] { check_topic_options("t", options); });
}

std::string text_for(const std::function<void(TopicOptions&)>& change) {
    const test::Thrown thrown = refusal(change);
    CHECK(thrown.code == ErrorCode::invalid_argument);
    return thrown.text;
}

}  // namespace

TEST_CASE("Default options are legal and fit a container's shared memory with room to spare") {
    check_topic_options("t", {});
    CHECK(partition_file_bytes(geometry_for({})) < 32U << 20);
}

TEST_CASE("A refused option is named with its value and what would be legal") {
    CHECK(text_for([](auto& o) { o.records = 1'000'000; }) ==
          "topic 't': records 1000000 is not a power of two; the nearest are 524288 and 1048576");
    CHECK(text_for([](auto& o) { o.partitions = 0; }) == "topic 't': partitions 0 is outside 1 to 1024");
    CHECK(text_for([](auto& o) { o.partitions = 1025; }) == "topic 't': partitions 1025 is outside 1 to 1024");
    CHECK(text_for([](auto& o) { o.records = 8; }) == "topic 't': records 8 is outside 16 to 268435456");
    CHECK(text_for([](auto& o) { o.cell_bytes = 96; }) == "topic 't': cell_bytes 96 is not 64, 128 or 256");
    CHECK(text_for([](auto& o) { o.producer_slots = 3; }) ==
          "topic 't': producer_slots 3 is not a power of two; the nearest are 2 and 4");
    CHECK(text_for([](auto& o) { o.records = 64; }) == "topic 't': records 64 is less than 4 x producer_slots 32, 128");
    CHECK(text_for([](auto& o) { o.payload_bytes = 1; }) ==
          "topic 't': payload_bytes 1 is neither 0 nor 262144 to 68719476736, as producer_slots 32 needs");
    CHECK(text_for([](auto& o) { o.payload_bytes = 300'000; }) ==
          "topic 't': payload_bytes 300000 is not a power of two; the nearest are 262144 and 524288");
    CHECK(text_for([](auto& o) { o.first_offset = kFirstOffsetMax + 1; }).find("first_offset") != std::string::npos);
}

TEST_CASE("Extents that would be too small or too large are refused with both options and the range") {
    const std::string small = text_for([](auto& o) { o.payload_bytes = 65'536; });
    CHECK_THAT(small, test::contains("payload_bytes 65536") && test::contains("producer_slots 32"));
    CHECK_THAT(small, test::contains("262144"));
    const std::string large = text_for([](auto& o) {
        o.payload_bytes = kPayloadMax;
        o.producer_slots = 1;
    });
    CHECK_THAT(large, test::contains("2147483648"));
}

TEST_CASE("What a refusal calls the nearest or the least is accepted") {
    for (const std::uint32_t slots : {1U, 2U, 32U, 1024U}) {
        for (const std::uint64_t payload : {std::uint64_t{1}, std::uint64_t{100'000}, std::uint64_t{300'000}, std::uint64_t{5'000'000},
                                            (std::uint64_t{1} << 31) + 1, kPayloadMax - 1}) {
            const auto with = [&](std::uint64_t bytes) {
                return refusal([&](auto& o) {
                    o.records = 4096;
                    o.producer_slots = slots;
                    o.payload_bytes = bytes;
                });
            };
            const test::Thrown refused = with(payload);
            REQUIRE(refused.code);
            INFO(refused.text);
            const std::regex two_numbers("(\\d+) (?:and|to) (\\d+)");
            std::smatch named;
            REQUIRE(std::regex_search(refused.text, named, two_numbers));
            CHECK_FALSE(with(std::stoull(named[1])).code);
            CHECK_FALSE(with(std::stoull(named[2])).code);
        }
    }
}

TEST_CASE("A value type has a name, of a bounded length, or it is no type") {
    CHECK(text_for([](auto& o) { o.value_type.size = 8; }).find("no name") != std::string::npos);
    CHECK(text_for([](auto& o) { o.value_type.name = std::string(kTypeNameMax + 1, 'x'); }).find("127") !=
          std::string::npos);
    CHECK(text_for([](auto& o) { o.value_type.name = std::string("a\0b", 3); }).find("zero byte") != std::string::npos);
    CHECK_FALSE(refusal([](auto& o) { o.value_type = {"acme.Trade", 40, 8}; }).code);
}

TEST_CASE("Every legal geometry keeps its areas apart and inside the file") {
    for (const std::uint32_t slots : {1U, 2U, 32U, 1024U}) {
        for (std::uint64_t records = std::max<std::uint64_t>(kRecordsMin, 4 * slots); records <= kRecordsMax;
             records *= 8) {
            for (const std::uint32_t cell : {64U, 128U, 256U}) {
                for (std::uint64_t payload : {std::uint64_t{0}, std::uint64_t{1} << 24, kPayloadMax}) {
                    TopicOptions options;
                    options.records = records;
                    options.cell_bytes = cell;
                    options.producer_slots = slots;
                    options.payload_bytes = payload;
                    if (thrown_by([&] { check_topic_options("t", options); }).code)
                        continue;
                    const layout::PartitionGeometry g = geometry_for(options);
                    const std::uint64_t words_end =
                        layout::kProducersAt + slots * std::uint64_t{128} + g.extents * std::uint64_t{8};
                    REQUIRE(g.cells_at >= words_end);
                    REQUIRE(g.cells_at % 4096 == 0);
                    REQUIRE(g.payload_at >= g.cells_at + records * cell);
                    REQUIRE(g.payload_at % 4096 == 0);
                    REQUIRE(g.extents * g.extent_bytes == payload);
                    REQUIRE(partition_file_bytes(g) >= g.payload_at + payload);
                    REQUIRE(g.batch_records_max >= 1);
                    // the room that tickets in flight may take leaves more than half of the ring
                    REQUIRE(records > 2 * std::uint64_t{slots} * g.batch_records_max);
                    REQUIRE(retained_records(g) >= records / 2);
                }
            }
        }
    }
}

TEST_CASE("The geometry's limits and the log's are the same") {
    for (const std::uint64_t payload : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
        TopicOptions options;
        options.payload_bytes = payload;
        options.producer_slots = 4;
        const layout::PartitionGeometry geometry = geometry_for(options);
        const partition_log::LogMemory<platform::HostMemory> log(nullptr, geometry, nullptr);
        CHECK(log.record_bytes_max() == record_bytes_max(geometry));
        CHECK(log.inline_bytes == inline_bytes_max(geometry));
    }
}

TEST_CASE("O01 Topic names follow Kafka's rule") {
    for (const std::string name : {"valid", "TOPIC", "nAmEs", "ar6", "VaL1d", "_0-9_.", "...", ".making-1"}) {
        CHECK(is_topic_name(name));
    }
    CHECK(is_topic_name(std::string(249, 'a')));
    CHECK_FALSE(is_topic_name(std::string(250, 'a')));
    for (const std::string name : {"", "foo bar", "..", ".", "foo:bar", "foo=bar", "f\xc3\xbcr"})
        CHECK_FALSE(is_topic_name(name));
    for (const char c : std::string("/\\,\0:\"';*? \t\r\n=", 15))
        CHECK_FALSE(is_topic_name(std::string("Is") + c + "illegal"));
}

TEST_CASE("A refused topic name is shown printably and cut") {
    const test::Thrown thrown =
        thrown_by([] { check_topic_name(std::string("a\n\x1b[31m") + std::string(1000, 'x')); });
    CHECK(thrown.code == ErrorCode::invalid_argument);
    CHECK(thrown.text.find('\n') == std::string::npos);
    CHECK(thrown.text.find('\x1b') == std::string::npos);
    CHECK(thrown.text.size() < 400);
}
