// Hostile input to the socket: nothing of it stops the daemon, or anybody else's request.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "running_daemon.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using platform::Descriptor;
using test::connect_raw;
using test::contains;
using test::read_all;
using test::RunningDaemon;
using test::ScratchDirectory;
using test::send_raw;

namespace {

struct Place {
    ScratchDirectory scratch;
    RunningDaemon daemon{scratch.broker()};
    Broker broker{scratch.broker()};
    /// What a request that is sent as it stands is answered.
    [[nodiscard]] std::string answer_to(const std::string& bytes) const {
        const Descriptor connection = connect_raw(daemon.socket());
        send_raw(connection, bytes);
        return read_all(connection);
    }
    [[nodiscard]] bool is_well() const { return test::is_healthy(daemon.socket()); }
};

std::string with_header(const std::string& header) {
    return "GET /v1/topics HTTP/1.1\r\nHost: x\r\n" + header + "\r\n\r\n";
}

}  // namespace

TEST_CASE("What is no request is refused with a status and a reason") {
    const Place place;
    struct Case {
        std::string bytes;
        std::string status;
    };
    const std::vector<Case> cases = {
        {"garbage\r\n\r\n", "400"},
        {"GET /v1/health\r\n\r\n", "400"},
        {"GET /v1/health HTTP/9.9\r\n\r\n", "400"},
        {"GET  /v1/health HTTP/1.1\r\n\r\n", "400"},
        {std::string("GET /v1/\0health HTTP/1.1\r\n\r\n", 28), "400"},
        {with_header("no colon"), "400"},
        {with_header(": no name"), "400"},
        {with_header("Content-Length: 1\r\nContent-Length: 2"), "400"},
        {with_header("Content-Length: 1\r\nContent-Length: 1"), "400"},
        {with_header("Content-Length: x"), "400"},
        {with_header("Content-Length: -1"), "400"},
        {with_header("Content-Length: 65537"), "413"},
        {with_header("Content-Length: 99999999999999999999999"), "413"},
        {with_header("Transfer-Encoding: chunked"), "411"},
        {with_header("Content-Encoding: gzip"), "415"},
        {with_header("Content-Type: multipart/form-data; boundary=x"), "415"},
        {with_header("Range: bytes=0-1,2-3"), "416"},
        {"GET /" + std::string(5'000, 'a') + " HTTP/1.1\r\n\r\n", "414"},
        {with_header("X: " + std::string(5'000, 'a')), "431"},
        {"GET / HTTP/1.1\r\n" + std::string(200'000, 'a'), "431"},
        {std::string(200'000, '\n'), "431"},
    };
    for (const Case& one : cases) {
        const std::string answer = place.answer_to(one.bytes);
        INFO(one.bytes.substr(0, 80) << "\n" << answer);
        CHECK(answer.starts_with("HTTP/1.1 " + one.status + " "));
        CHECK_THAT(answer, contains("\"code\":\"invalid_argument\""));
        CHECK(place.is_well());
    }
}

TEST_CASE("Random bytes, and requests that are cut off anywhere, leave the daemon as it was") {
    const Place place;
    std::uint64_t state = 88172645463325252;
    for (int round = 0; round < 300; ++round) {
        std::string bytes;
        for (int i = 0; i < 400; ++i) {
            state ^= state << 13U;
            state ^= state >> 7U;
            state ^= state << 17U;
            bytes += static_cast<char>(state);
        }
        const Descriptor connection = connect_raw(place.daemon.socket());
        send_raw(connection, bytes + "\r\n\r\n");
    }
    const std::string whole = "PUT /v1/topics/t HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"records\":64";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const Descriptor connection = connect_raw(place.daemon.socket());
        send_raw(connection, whole.substr(0, length));
    }
    CHECK(place.is_well());
    CHECK(place.broker.list_topics().empty());
}

TEST_CASE("No name in a target leads out of the topics") {
    Place place;
    place.broker.create_topic("t", test::small_topic());
    for (const char* const name : {"..", ".", "..%2f..%2fclients", "%2e%2e", "..%5cclients", "t%00", "t%2f0.log", "%",
                                   "%zz", "t%0d%0aX:%201", "%ff%fe"}) {
        for (const char* const method : {"GET", "PUT", "DELETE", "PATCH"}) {
            const auto reply = place.daemon.ask(method, std::string("/v1/topics/") + name);
            INFO(method << ' ' << name << ' ' << reply.body);
            CHECK((reply.status == 400 || reply.status == 404));
        }
    }
    const auto reply = place.daemon.ask("PUT", "/v1/topics/" + std::string(3'000, 'a'));
    CHECK(reply.status == 400);
    CHECK_THAT(reply.message(), contains("(3000 bytes)"));
    CHECK(place.broker.list_topics() == std::vector<std::string>{"t"});
    CHECK(place.broker.verify().damage.empty());
}

TEST_CASE("Thousands of connections that say nothing keep nobody else from being answered") {
    Place place;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const std::size_t count = limit.rlim_cur > 3'200 ? 3'000 : limit.rlim_cur / 2;
    std::vector<Descriptor> silent;
    for (std::size_t i = 0; i < count; ++i) {
        silent.push_back(connect_raw(place.daemon.socket()));
        if (i % 3 == 0)
            send_raw(silent.back(), "GET /v1/heal");
    }
    CHECK(place.is_well());
    CHECK(place.daemon.ask("GET", "/v1/topics").status == 200);
    place.broker.create_topic("t", test::small_topic());
    CHECK_THAT(place.daemon.log(), contains("topic 't' was created for user"));
    silent.clear();
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(place.is_well());
}

TEST_CASE("Another user's thousand connections do not take the places of the others") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    Place place;
    const Descriptor slow = connect_raw(place.daemon.socket());
    send_raw(slow, "GET /v1/health HTTP/1.1\r\n");
    CHECK(test::run_as(4331, {}, [&] {
              std::vector<Descriptor> silent;
              for (int i = 0; i < 500; ++i)
                  silent.push_back(connect_raw(place.daemon.socket()));
              return test::is_healthy(place.daemon.socket()) ? 0 : 1;
          }) == 0);
    send_raw(slow, "\r\n");
    CHECK(read_all(slow).starts_with("HTTP/1.1 200"));
}

TEST_CASE("A client that does not read its answer, or half closes, is no trouble") {
    Place place;
    place.broker.create_topic("t", test::small_topic());
    std::vector<Descriptor> unread;
    for (int i = 0; i < 50; ++i) {
        unread.push_back(connect_raw(place.daemon.socket()));
        send_raw(unread.back(), "GET /metrics HTTP/1.1\r\n\r\n");
    }
    CHECK(place.is_well());
    const Descriptor half = connect_raw(place.daemon.socket());
    send_raw(half, "GET /v1/topics HTTP/1.1\r\n\r\n");
    ::shutdown(half.get(), SHUT_WR);
    CHECK(read_all(half).starts_with("HTTP/1.1 200"));
}

TEST_CASE("The daemon ends in time although clients say nothing") {
    Place place;
    std::vector<Descriptor> silent;
    for (int i = 0; i < 60; ++i)
        silent.push_back(connect_raw(place.daemon.socket()));
    place.daemon.process().signal(SIGTERM);
    CHECK(place.daemon.process().wait() == 0);
    CHECK_FALSE(std::filesystem::exists(place.daemon.socket()));
}

TEST_CASE("A client that says nothing for long is let go") {
    const Place place;
    const Descriptor silent = connect_raw(place.daemon.socket());
    send_raw(silent, "GET /v1/health HTTP/1.1\r\n");
    std::array<char, 16> bytes{};
    CHECK(::recv(silent.get(), bytes.data(), bytes.size(), 0) <= 0);  // returns when the daemon ends it
    CHECK(place.is_well());
}

TEST_CASE("A creation whose asker is gone is given up, and leaves nothing") {
    Place place;
    const Descriptor connection = connect_raw(place.daemon.socket());
    const std::string body = R"({"partitions":64,"payload_bytes":16777216})";
    send_raw(connection,
             "PUT /v1/topics/big HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    ::shutdown(connection.get(), SHUT_WR);
    const std::string answer = read_all(connection);
    INFO(answer);
    const bool made = answer.starts_with("HTTP/1.1 201");  // it was quicker
    CHECK((made || answer.starts_with("HTTP/1.1 503")));
    CHECK(place.broker.list_topics().size() == (made ? 1 : 0));
    CHECK(std::filesystem::is_empty(place.scratch.broker() / "staging"));
}
