// What the intake of requests lets through, however the bytes come in.
#include "daemon/http_intake.hpp"

#include <string>

#include "support/catch.hpp"

using namespace ringmain::daemon;

namespace {

HttpIntake fed(const std::string& bytes, std::size_t piece) {
    HttpIntake intake;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        intake.take(std::string_view(bytes).substr(at, piece));
    return intake;
}

}  // namespace

TEST_CASE("A request is complete with its last byte, in pieces of any size") {
    const std::string request = "PUT /v1/topics/t?x=1 HTTP/1.1\r\nHost: a\r\ncontent-length:  4 \r\n\r\n{}{}";
    for (std::size_t piece = 1; piece <= request.size(); ++piece) {
        INFO(piece);
        const HttpIntake intake = fed(request, piece);
        CHECK(intake.complete());
        CHECK_FALSE(intake.refusal().has_value());
        CHECK(intake.method() == "PUT");
        CHECK(intake.target() == "/v1/topics/t?x=1");
        CHECK(intake.text() == request);
        CHECK_FALSE(fed(request.substr(0, request.size() - 1), piece).complete());
    }
}

TEST_CASE("What comes behind a request is dropped") {
    const HttpIntake intake = fed("GET / HTTP/1.1\r\n\r\nGET /other HTTP/1.1\r\n\r\n", 7);
    CHECK(intake.complete());
    CHECK(intake.text() == "GET / HTTP/1.1\r\n\r\n");
}

TEST_CASE("A request of exactly the largest head and body is taken, and one of a byte more is not") {
    const auto request = [](std::size_t head, std::size_t body) {
        std::string text = "PUT / HTTP/1.1\r\nContent-Length: " + std::to_string(body) + "\r\n";
        while (text.size() + 100 < head)
            text +=
                "A: " + std::string(std::min<std::size_t>(kLineBytesMax - 3, head - text.size() - 50), 'a') + "\r\n";
        text += "B: " + std::string(head - text.size() - 3, 'b');
        return text + "\r\n\r\n" + std::string(body, 'x');
    };
    CHECK(fed(request(kHeadBytesMax, kBodyBytesMax), 1000).complete());
    CHECK(fed(request(kHeadBytesMax + 1, 0), 1000).refusal()->status == 431);
    CHECK(fed(request(200, kBodyBytesMax + 1), 1000).refusal()->status == 413);
    const std::string longest = "GET / HTTP/1.1\r\nA: " + std::string(kLineBytesMax - 3, 'a') + "\r\n\r\n";
    CHECK(fed(longest, 1000).complete());
    const std::string longer = "GET / HTTP/1.1\r\nA: " + std::string(kLineBytesMax - 2, 'a') + "\r\n\r\n";
    CHECK(fed(longer, 1000).refusal()->status == 431);
}
