// A daemon on a broker of a test's own, and plain ways to talk to its socket.
#include "running_daemon.hpp"

#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "platform/local_address.hpp"
#include "platform/local_http.hpp"

namespace ringmain::test {

using namespace std::chrono_literals;
using platform::Descriptor;
using platform::LocalHttp;

bool eventually(const std::function<bool()>& reached) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!reached()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

TopicOptions small_topic() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.groups = 2;
    options.members = 2;
    return options;
}

ApiReply ask(const std::filesystem::path& socket, const std::string& method, const std::string& target,
             const std::string& body) {
    auto request = LocalHttp::connect(socket, 30s);
    if (!request)
        return {};
    request->ask(method, target, body);
    if (request->wait(60s) != LocalHttp::State::done)
        return {};
    return {request->reply().status, request->reply().body};
}

bool is_healthy(const std::filesystem::path& socket) {
    auto request = LocalHttp::connect(socket, 0ms);
    if (!request)
        return false;
    request->ask("GET", "/v1/health");
    return request->wait(5s) == LocalHttp::State::done && request->reply().status == 200;
}

Descriptor connect_raw(const std::filesystem::path& socket) {
    const platform::LocalAddress address(socket);
    Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(connection.get(), address.get(), platform::LocalAddress::size()) != 0)
        throw std::runtime_error("cannot connect to " + socket.string());
    return connection;
}

bool send_raw(const Descriptor& connection, const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t count = ::send(connection.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        sent += static_cast<std::size_t>(count);
    }
    return true;
}

std::string read_all(const Descriptor& connection, std::chrono::milliseconds timeout) {
    std::string text;
    std::array<char, 4096> piece{};
    pollfd one{connection.get(), POLLIN, 0};
    while (::poll(&one, 1, static_cast<int>(timeout.count())) == 1) {
        const ssize_t count = ::recv(connection.get(), piece.data(), piece.size(), 0);
        if (count <= 0)
            break;
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
}

RunningDaemon::RunningDaemon(const std::filesystem::path& broker, const std::string& configuration, uid_t uid)
    : output_(scratch_.path() / "output"), socket_(broker / "keeper.sock") {
    std::vector<std::string> arguments{"-d", broker.string()};
    if (!configuration.empty()) {
        const std::filesystem::path file = scratch_.path() / "ringmaind.toml";
        std::ofstream(file) << configuration;
        arguments = {"-c", file.string(), "-d", broker.string()};
    }
    child_.emplace(start(RINGMAIN_DAEMON_PATH, arguments, {output_, uid, {}}));
    if (!eventually([this] { return is_healthy(socket_); }))
        throw std::runtime_error("the daemon does not answer: " + log());
}

int run_as(uid_t uid, const std::vector<gid_t>& groups, const std::function<int()>& body) {
    return Child([&] {
               if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(uid, uid, uid) != 0 ||
                   ::setresuid(uid, uid, uid) != 0)
                   return 98;
               return body();
           })
        .wait();
}

}  // namespace ringmain::test
