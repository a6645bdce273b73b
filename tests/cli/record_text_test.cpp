// Records as text and as JSON, and positions.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/errors.hpp"
#include "cli/positions.hpp"
#include "cli/record_format.hpp"
#include "cli/record_json.hpp"
#include "support/catch.hpp"

namespace ringmain::cli {

namespace {

using namespace std::string_view_literals;
using test::contains;

ConsumerRecord make_record() {
    ConsumerRecord record;
    record.topic = "trades";
    record.partition = 2;
    record.offset = 9007199254740993;  // the first whole number that a double cannot hold
    record.timestamp_ns = 1767323045123456789;
    record.key = as_bytes("MSFT");
    record.value = as_bytes("421.5");
    return record;
}

std::string formatted(std::string_view format, const ConsumerRecord& record) {
    std::string text;
    RecordFormat(format).append(text, record);
    return text;
}

nlohmann::json parsed(const ConsumerRecord& record) {
    std::string text;
    append_json(text, record);
    CHECK(text.find('\n') == std::string::npos);
    return nlohmann::json::parse(text);
}

}  // namespace

TEST_CASE("A format prints each token and each escape") {
    const ConsumerRecord record = make_record();
    CHECK(formatted("%t[%p]@%o", record) == "trades[2]@9007199254740993");
    CHECK(formatted("%k=%s (%K,%S)", record) == "MSFT=421.5 (4,5)");
    CHECK(formatted("%T 100%%", record) == "1767323045123 100%");
    CHECK(formatted(R"(%p\t%s\n\x00\\)", record) == "2\t421.5\n\0\\"sv);
    CHECK(formatted("%h", record) == "");
    CHECK(formatted("", record) == "");
    CHECK(formatted(kDefaultFormat, record) == "421.5\n");
}

TEST_CASE("A format shows null as no text and -1 bytes, and empty as no text and 0 bytes") {
    ConsumerRecord record = make_record();
    record.key = std::nullopt;
    record.value = Bytes{};
    CHECK(formatted("<%k|%K|%s|%S>", record) == "<|-1||0>");
}

TEST_CASE("A format with an unknown token is refused and the token named") {
    CHECK_THROWS_WITH(RecordFormat("%p %q"), contains("-f") && contains("'%q'"));
    CHECK_THROWS_WITH(RecordFormat("100%"), contains("'%'"));
    CHECK_THROWS_WITH(RecordFormat(R"(%s\q)"), contains(R"('\q')"));
    CHECK_THROWS_AS(RecordFormat("%q"), UsageError);
}

TEST_CASE("O06 a record's JSON keeps every digit of its numbers") {
    for (const std::uint64_t offset : {2147483648ULL, 4294967296ULL, 9007199254740993ULL, 9223372036854775806ULL}) {
        ConsumerRecord record = make_record();
        record.offset = offset;
        std::string text;
        append_json(text, record);
        CHECK_THAT(text, contains("\"offset\":" + std::to_string(offset) + ","));
    }
    const nlohmann::json object = parsed(make_record());
    CHECK(object["ts"] == 1767323045123);
    CHECK(object["ts_ns"] == 1767323045123456789);
    CHECK(object["topic"] == "trades");
    CHECK(object["partition"] == 2);
    CHECK(object["key"] == "MSFT");
    CHECK(object["payload"] == "421.5");
    CHECK(object["headers"] == nlohmann::json::array());
}

TEST_CASE("A record's JSON tells null, empty, text and other bytes apart") {
    ConsumerRecord record = make_record();
    record.key = std::nullopt;
    record.value = Bytes{};
    nlohmann::json object = parsed(record);
    CHECK(object["key"].is_null());
    CHECK(object["payload"] == "");

    record.key = as_bytes("\xFF\xFE"sv);
    record.value = as_bytes("a\n\"\0\xC3\xA9"sv);
    object = parsed(record);
    CHECK_FALSE(object.contains("key"));
    CHECK(object["key_base64"] == "//4=");
    CHECK(object["payload"] == std::string("a\n\"\0\xC3\xA9"sv));
}

TEST_CASE("A position is a word, an offset, a count from the end or a time") {
    CHECK(parse_position("-o", "earliest").kind == Position::Kind::earliest);
    CHECK(parse_position("-o", "latest").kind == Position::Kind::latest);
    const Position offset = parse_position("-o", "4611686018427387903");
    CHECK(offset.kind == Position::Kind::offset);
    CHECK(offset.value == kOffsetMax);
    const Position last = parse_position("-o", "-5");
    CHECK(last.kind == Position::Kind::last);
    CHECK(last.value == 5);
    const Position time = parse_position("-o", "@1970-01-01T00:00:01Z");
    CHECK(time.kind == Position::Kind::time);
    CHECK(time.time_ns == 1'000'000'000);
}

TEST_CASE("A position of no known form is refused with option and text") {
    for (const char* text : {"", "-", "--5", "5-", "+5", "1e3", "first", "Earliest", "0x10", "4611686018427387904", "18446744073709551616"}) {
        INFO("text: '" << text << "'");
        CHECK_THROWS_WITH(parse_position("-o", text), contains("-o") && contains("'" + std::string(text) + "'"));
    }
    CHECK_THROWS_AS(parse_position("-o", "@yesterday"), UsageError);
}

}  // namespace ringmain::cli
