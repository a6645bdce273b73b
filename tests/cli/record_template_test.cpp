// From lines to records.
#include "cli/record_template.hpp"

#include <string>
#include <string_view>

#include "cli/errors.hpp"
#include "support/catch.hpp"

namespace ringmain::cli {

namespace {

using namespace std::string_view_literals;
using test::contains;

/// "null", or the text in brackets.
std::string shown(const OptionalBytes& bytes) { return bytes ? "[" + std::string(as_text(*bytes)) + "]" : "null"; }

std::string split(const RecordTemplate& record, std::string_view line) {
    const ProducerRecord made = record.from_line(line);
    return shown(made.key) + shown(made.value);
}

}  // namespace

TEST_CASE("A line without options becomes a value with a null key") {
    const RecordTemplate record;
    CHECK(split(record, "a,b") == "null[a,b]");
    CHECK(split(record, "") == "null[]");
    CHECK(split(record, "\0x"sv) == "null[\0x]"sv);
}

TEST_CASE("A line splits at the first delimiter, whose bytes all count") {
    RecordTemplate record;
    record.set_delimiter("::");
    CHECK(split(record, "k::v") == "[k][v]");
    CHECK(split(record, "k:v") == "null[k:v]");
    CHECK(split(record, "a:b::c::d") == "[a:b][c::d]");
    CHECK(split(record, "::v") == "[][v]");
    CHECK(split(record, "k::") == "[k][]");
    CHECK(split(record, "k:::v") == "[k][:v]");
}

TEST_CASE("A delimiter takes escapes and must not be empty") {
    RecordTemplate record;
    record.set_delimiter("\\t");
    CHECK(split(record, "k\tv") == "[k][v]");
    record.set_delimiter("\\0");
    CHECK(split(record, "k\0v"sv) == "[k][v]");
    CHECK_THROWS_WITH(record.set_delimiter(""), contains("-K"));
}

TEST_CASE("An empty value becomes null on request, an empty key stays empty") {
    RecordTemplate record;
    record.set_empty_is_null(true);
    record.set_delimiter(",");
    CHECK(split(record, "k,") == "[k]null");
    CHECK(split(record, ",") == "[]null");
    CHECK(split(record, "") == "nullnull");
    CHECK(split(record, "k,v") == "[k][v]");
}

TEST_CASE("A fixed key, a partition and headers go with every record") {
    RecordTemplate record;
    record.set_key("");
    record.set_partition(3);
    record.add_header("a=1");
    record.add_header("b=x=y");
    record.add_header("c=");
    record.add_header("d");
    const ProducerRecord made = record.from_line("v");
    CHECK(shown(made.key) == "[]");
    CHECK(made.partition == 3U);
    REQUIRE(made.headers.size() == 4);
    CHECK(made.headers[0].name == "a");
    CHECK(shown(made.headers[0].value) == "[1]");
    CHECK(shown(made.headers[1].value) == "[x=y]");
    CHECK(shown(made.headers[2].value) == "[]");
    CHECK(made.headers[3].name == "d");
    CHECK(shown(made.headers[3].value) == "null");
}

TEST_CASE("A header without a name, and a key over the largest, are refused") {
    RecordTemplate record;
    CHECK_THROWS_WITH(record.add_header("=v"), contains("-H") && contains("'=v'"));
    CHECK_THROWS_AS(record.add_header(""), UsageError);
    CHECK_THROWS_WITH(record.add_header(std::string(65'536, 'n') + "=v"), contains("65536") && contains("65535"));
    CHECK_THROWS_WITH(record.set_key(std::string(65'536, 'k')),
                      contains("-k") && contains("65536") && contains("65535"));
}

}  // namespace ringmain::cli
