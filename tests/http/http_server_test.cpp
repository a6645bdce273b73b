// The HTTP server with handlers of a test's own: who does not read, or asks much, waits for himself.
#include "daemon/http_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "daemon/http_sockets.hpp"
#include "platform/local_address.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace ringmain::daemon;
using namespace std::chrono_literals;
using platform::Descriptor;

namespace {

constexpr std::size_t kLargeBytes = std::size_t{4} << 20;  // more than any socket keeps

/// Whoever comes waits until it is opened.
class Gate {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        ++waiting_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        --waiting_;
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void wait_for(int count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waiting_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    bool open_ = false;
};

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\n\r\n"; }
const std::string kChange = "PUT /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n";

/// GET /health at once, GET /large has a large answer, GET /wait and all changes wait for the gate.
class Place {
public:
    explicit Place(const HttpLimits& limits = {}) {
        std::vector<HttpEndpoint> endpoints;
        endpoints.push_back({file_.listen(), true,
                             std::make_shared<HttpRouter>([this](const HttpCall& call) { return answer(call); }),
                             work_of});
        server_ = std::make_unique<HttpServer>(std::move(endpoints), limits);
        server_->start();
    }
    ~Place() { gate.open(); }

    /// Without assertions of the framework, which are for one thread.
    [[nodiscard]] Descriptor send(const std::string& request) const {
        Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const platform::LocalAddress address(path_);
        const bool sent =
            ::connect(socket.get(), address.get(), platform::LocalAddress::size()) == 0 &&
            ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size());
        if (!sent)
            throw std::runtime_error("a request could not be sent");
        return socket;
    }
    [[nodiscard]] std::string ask(const std::string& request) const { return read_all(send(request)); }
    /// Until the server closes it.
    [[nodiscard]] static std::string read_all(const Descriptor& socket) {
        std::string text;
        std::vector<char> piece(1 << 16);
        for (ssize_t got = 1; got > 0;) {
            got = ::recv(socket.get(), piece.data(), piece.size(), 0);
            if (got > 0)
                text.append(piece.data(), static_cast<std::size_t>(got));
        }
        return text;
    }
    /// The first byte of an answer, or its end, is there.
    static void wait_for_answer(const Descriptor& socket) {
        pollfd one{socket.get(), POLLIN, 0};
        REQUIRE(::poll(&one, 1, 60'000) == 1);
    }

    Gate gate;
    std::atomic<int> changes{0};

private:
    static HttpWork work_of(std::string_view method, std::string_view target) {
        if (method != "GET")
            return HttpWork::change;
        return target == "/health" ? HttpWork::at_once : HttpWork::look;
    }
    HttpAnswer answer(const HttpCall& call) {
        if (call.method != "GET")
            ++changes;
        if (call.method != "GET" || call.path.at(0) == "wait")
            gate.pass();
        return {200, call.path.at(0) == "large" ? std::string(kLargeBytes, 'x') : "good", "text/plain"};
    }

    test::ScratchDirectory scratch_;
    std::filesystem::path path_ = scratch_.path() / "socket";
    SocketFile file_{path_, {}};
    std::unique_ptr<HttpServer> server_;
};

bool is_good(const std::string& answer) { return answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("good"); }

}  // namespace

TEST_CASE("Changes of one user that wait keep none of his looks and health requests from being answered") {
    Place place;
    std::vector<Descriptor> changes;
    for (int i = 0; i < 64; ++i)
        changes.push_back(place.send(kChange));
    place.gate.wait_for(2);
    CHECK(is_good(place.ask(get("/health"))));
    const std::string refused = place.ask(kChange);
    CHECK(refused.starts_with("HTTP/1.1 429 "));
    CHECK_THAT(refused, test::contains("has 64 requests that are not answered yet"));
    CHECK_THAT(refused, test::contains("\"code\":\"limit\""));
    CHECK(is_good(place.ask(get("/health"))));
    place.gate.open();
    for (const Descriptor& change : changes)
        CHECK(is_good(Place::read_all(change)));
    CHECK(place.changes == 64);
    CHECK(is_good(place.ask(get("/look"))));
}

TEST_CASE("However many wait in all, there is room for a health request") {
    HttpLimits limits;
    limits.connections = 12;
    limits.answered = 8;
    Place place(limits);
    std::vector<Descriptor> waiting;
    for (int i = 0; i < 8; ++i)
        waiting.push_back(place.send(i % 2 == 0 ? kChange : get("/wait")));
    place.gate.wait_for(4);
    std::vector<Descriptor> silent;
    for (int i = 0; i < 20; ++i)
        silent.push_back(place.send("GET /hea"));
    CHECK(is_good(place.ask(get("/health"))));
    CHECK_THAT(place.ask(get("/look")), test::contains("8 requests are not answered yet"));
    place.gate.open();
    for (const Descriptor& one : waiting)
        CHECK(is_good(Place::read_all(one)));
}

TEST_CASE("Answers that are not read are kept up to a bound, and the oldest of the user go first") {
    HttpLimits limits;
    limits.unsent_bytes_per_user = 3 * kLargeBytes;
    Place place(limits);
    std::vector<Descriptor> unread;
    for (int i = 0; i < 10; ++i) {
        unread.push_back(place.send(get("/large")));
        Place::wait_for_answer(unread.back());
    }
    CHECK(place.ask(get("/large")).size() > kLargeBytes);
    CHECK(is_good(place.ask(get("/health"))));
    CHECK(Place::read_all(unread.front()).size() < kLargeBytes);
    CHECK(Place::read_all(unread.back()).size() > kLargeBytes);
}

TEST_CASE("An answer that is not read is given up in time") {
    HttpLimits limits;
    limits.answer = 200ms;
    Place place(limits);
    const Descriptor unread = place.send(get("/large"));
    Place::wait_for_answer(unread);
    pollfd one{unread.get(), POLLRDHUP, 0};
    REQUIRE(::poll(&one, 1, 60'000) == 1);  // the server has closed it
    CHECK(Place::read_all(unread).size() < kLargeBytes);
}

TEST_CASE("A server that is stopped in the middle of everything ends") {
    for (int round = 0; round < 20; ++round) {
        Place place;
        std::vector<Descriptor> some;
        for (int i = 0; i < 8; ++i) {
            some.push_back(place.send(get("/large")));
            some.push_back(place.send(kChange));
            some.push_back(place.send("GET /h"));
            some.push_back(place.send(get("/health")));
        }
        if (round % 2 == 0)
            place.gate.wait_for(1);
        place.gate.open();
    }
}

TEST_CASE("Many clients at once are each answered with what they asked for") {
    Place place;
    place.gate.open();
    std::atomic<int> wrong{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back([&, i] {
            for (int round = 0; round < 50; ++round) {
                const std::string& request =
                    (round + i) % 3 == 0 ? kChange : get((round + i) % 3 == 1 ? "/health" : "/look");
                wrong += is_good(place.ask(request)) ? 0 : 1;
            }
        });
    }
    for (std::thread& client : clients)
        client.join();
    CHECK(wrong == 0);
}
