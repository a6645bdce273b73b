// Numbers and sizes of the command line.
#include "cli/numbers.hpp"

#include "cli/errors.hpp"
#include "support/catch.hpp"

namespace ringmain::cli {

using test::contains;

TEST_CASE("A number is digits and nothing else") {
    CHECK(parse_number("-c", "0", {}) == 0);
    CHECK(parse_number("-c", "007", {}) == 7);
    CHECK(parse_number("-c", "18446744073709551615", {}) == UINT64_MAX);
    for (const char* text : {"", " 1", "1 ", "+1", "-1", "0x10", "1e3", "1.0", "18446744073709551616", "1K", "one"}) {
        INFO("text: '" << text << "'");
        CHECK_THROWS_AS(parse_number("-c", text, {}), UsageError);
    }
}

TEST_CASE("A number outside its range is refused with option, value and range") {
    CHECK(parse_number("-p", "1", {1, 4}) == 1);
    CHECK(parse_number("-p", "4", {1, 4}) == 4);
    CHECK_THROWS_WITH(parse_number("-p", "5", {1, 4}), contains("-p") && contains("'5'") && contains("from 1 to 4"));
    CHECK_THROWS_WITH(parse_number("-p", "0", {1, 4}), contains("'0'"));
    CHECK_THROWS_WITH(parse_number("-c", "0", {1, UINT64_MAX}), contains("at least 1"));
}

TEST_CASE("A size takes the suffixes K, M and G as multiples of 1024") {
    CHECK(parse_size("--payload", "1536", {}) == 1536);
    CHECK(parse_size("--payload", "4K", {}) == 4096);
    CHECK(parse_size("--payload", "4k", {}) == 4096);
    CHECK(parse_size("--payload", "3M", {}) == 3 << 20);
    CHECK(parse_size("--payload", "2G", {}) == 2ULL << 30);
    CHECK(parse_size("--payload", "0K", {}) == 0);
}

TEST_CASE("D08 a size that wraps, or is no size, is refused") {
    for (const char* text : {"-1", "1e99", "10GB ", "10GB", "G", "", "1KK", "1T", "18014398509481984K", "17179869184G",
                             "18446744073709551616"}) {
        INFO("text: '" << text << "'");
        CHECK_THROWS_AS(parse_size("--payload", text, {}), UsageError);
    }
    CHECK(parse_size("--payload", "18014398509481983K", {}) == 18014398509481983ULL << 10);
}

TEST_CASE("Bytes print with a binary unit only where it is exact") {
    CHECK(format_bytes(0) == "0 bytes");
    CHECK(format_bytes(1) == "1 byte");
    CHECK(format_bytes(1000) == "1000 bytes");
    CHECK(format_bytes(1024) == "1024 bytes (1 KiB)");
    CHECK(format_bytes(16 << 20) == "16777216 bytes (16 MiB)");
    CHECK(format_bytes((1 << 20) + 1) == "1048577 bytes");
}

}  // namespace ringmain::cli
