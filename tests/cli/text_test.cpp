// UTF-8, base64, escapes and hexadecimal dumps.
#include <string>
#include <string_view>

#include "cli/errors.hpp"
#include "cli/escapes.hpp"
#include "cli/hex_dump.hpp"
#include "cli/utf8.hpp"
#include "support/catch.hpp"

namespace ringmain::cli {

using namespace std::string_view_literals;
using test::contains;

TEST_CASE("Well-formed UTF-8 is text, at both ends of each length") {
    for (const std::string_view text :
         {""sv, "plain"sv, "\0"sv, "\x7F"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv,
          "\xEE\x80\x80"sv, "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv, "a\xC3\xA9z"sv}) {
        INFO("text: " << to_base64(text));
        CHECK(is_utf8(text));
    }
}

TEST_CASE("Bytes that are not UTF-8 are not text") {
    const std::string_view stray = "\x80"sv;
    const std::string_view overlong_nul = "\xC0\x80"sv;
    const std::string_view overlong_slash = "\xE0\x80\xAF"sv;
    const std::string_view overlong_four = "\xF0\x8F\xBF\xBF"sv;
    const std::string_view surrogate = "\xED\xA0\x80"sv;
    const std::string_view too_high = "\xF4\x90\x80\x80"sv;
    for (const std::string_view bytes :
         {stray, overlong_nul, overlong_slash, overlong_four, surrogate, too_high, "\xC1\xBF"sv, "\xFF"sv, "\xFE"sv,
          "\xF5\x80\x80\x80"sv, "\xC3"sv, "\xE2\x82"sv, "\xF0\x9F\x98"sv, "\xC3("sv, "ok\xE2\x28\xA1"sv}) {
        INFO("bytes: " << to_base64(bytes));
        CHECK_FALSE(is_utf8(bytes));
    }
}

TEST_CASE("Base64 is that of RFC 4648") {
    CHECK(to_base64("") == "");
    CHECK(to_base64("f") == "Zg==");
    CHECK(to_base64("fo") == "Zm8=");
    CHECK(to_base64("foo") == "Zm9v");
    CHECK(to_base64("foob") == "Zm9vYg==");
    CHECK(to_base64("fooba") == "Zm9vYmE=");
    CHECK(to_base64("foobar") == "Zm9vYmFy");
    CHECK(to_base64("\xFB\xFF\xBF"sv) == "+/+/");
    CHECK(to_base64("\0\0\0"sv) == "AAAA");
}

TEST_CASE("Escapes stand for single bytes") {
    CHECK(unescape("-K", R"(a\tb\n\r\\\x41\xff\0z)") == "a\tb\n\r\\A\xFF\0z"sv);
    CHECK(unescape("-K", "::") == "::");
}

TEST_CASE("An unknown escape is refused with option and escape") {
    CHECK_THROWS_WITH(unescape("-K", R"(\q)"), contains("-K") && contains(R"('\q')"));
    CHECK_THROWS_WITH(unescape("-K", R"(\xg1)"), contains(R"('\xg1')"));
    CHECK_THROWS_WITH(unescape("-K", R"(\x4)"), contains(R"('\x4')"));
    CHECK_THROWS_WITH(unescape("-K", "end\\"), contains(R"('\')"));
    CHECK_THROWS_AS(unescape("-K", R"(\q)"), UsageError);
}

TEST_CASE("A dump shows sixteen bytes a line, as hexadecimal pairs and as ASCII") {
    CHECK(hex_dump(as_bytes("")) == "");
    CHECK(hex_dump(as_bytes("A\n\x7F")) == "00000000: 410a 7f                                  A..\n");
    CHECK(hex_dump(as_bytes("0123456789abcdef~")) ==
          "00000000: 3031 3233 3435 3637 3839 6162 6364 6566  0123456789abcdef\n"
          "00000010: 7e                                       ~\n");
}

}  // namespace ringmain::cli
