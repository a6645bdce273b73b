// The sockets that the daemon listens on.
#include "http_sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "platform/local_address.hpp"
#include "platform/local_http.hpp"
#include "platform/rights.hpp"
#include "platform/system_failure.hpp"

namespace ringmain::daemon {

namespace {

using platform::Descriptor;
using platform::LocalAddress;
using platform::system_failure;

Descriptor new_socket(int family, const std::string& for_what) {
    Descriptor socket(platform::beyond_streams(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
    if (!socket)
        throw system_failure("open a socket for", for_what, errno);
    return socket;
}

bool somebody_listens(const std::filesystem::path& path) {
    return platform::LocalHttp::connect(path, std::chrono::milliseconds(0)).has_value();
}

void clear_the_way(const std::filesystem::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT)
            return;
        throw system_failure("look at", path, errno);
    }
    if (!S_ISSOCK(status.st_mode))
        throw Error(ErrorCode::mismatch, path.string(), "'" + path.string() + "' exists and is not a socket");
    if (somebody_listens(path))
        throw Error(ErrorCode::busy, path.string(), "another process listens on '" + path.string() + "'");
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        throw system_failure("remove", path, errno);
}

// Each class of users may connect that may read and enter the directory.
::mode_t mode_by_directory(const std::filesystem::path& directory) {
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0)
        throw system_failure("look at", directory, errno);
    ::mode_t mode = 0;
    for (const unsigned shift : {0U, 3U, 6U}) {
        if (((status.st_mode >> shift) & 05U) == 05U)
            mode |= 06U << shift;
    }
    return mode | 0600U;
}

union LoopbackAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;

    LoopbackAddress(const std::string& host, std::uint16_t port) : v6{} {
        const std::string number = host == "localhost" ? "127.0.0.1" : host;
        in_addr short_one{};
        in6_addr long_one{};
        if (::inet_pton(AF_INET, number.c_str(), &short_one) == 1 && (ntohl(short_one.s_addr) >> 24U) == 127) {
            v4.sin_family = AF_INET;
            v4.sin_addr = short_one;
            v4.sin_port = htons(port);
        } else if (::inet_pton(AF_INET6, number.c_str(), &long_one) == 1 && IN6_IS_ADDR_LOOPBACK(&long_one)) {
            v6.sin6_family = AF_INET6;
            v6.sin6_addr = long_one;
            v6.sin6_port = htons(port);
        } else {
            throw Error(ErrorCode::invalid_argument, host,
                        "'" + host + "' is not a loopback address (127.0.0.0/8 or ::1)");
        }
    }
    [[nodiscard]] socklen_t size() const noexcept { return any.sa_family == AF_INET ? sizeof v4 : sizeof v6; }
    [[nodiscard]] std::string name() const {
        std::array<char, INET6_ADDRSTRLEN> text{};
        if (any.sa_family == AF_INET) {
            ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
            return std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port));
        }
        ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
        return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
    }
};

}  // namespace

SocketFile::SocketFile(const std::filesystem::path& path, const SocketAccess& access)
    : path_(path), socket_(new_socket(AF_UNIX, path)) {
    clear_the_way(path_);
    const LocalAddress address(path_);
    if (::bind(socket_.get(), address.get(), LocalAddress::size()) != 0)
        throw system_failure("create the socket", path_, errno);
    struct stat status {};
    if (::lstat(path_.c_str(), &status) == 0) {
        device_ = status.st_dev;
        inode_ = status.st_ino;
    }
    try {
        set_rights(access);  // before anybody can connect
    } catch (...) {
        remove();
        throw;
    }
}

platform::Descriptor SocketFile::listen() {
    if (::listen(socket_.get(), SOMAXCONN) != 0)
        throw system_failure("listen on", path_, errno);
    return std::move(socket_);
}

void SocketFile::set_rights(const SocketAccess& access) const {
    if (access.group && ::lchown(path_.c_str(), static_cast<uid_t>(-1), *access.group) != 0)
        throw system_failure("change the group of", path_, errno);
    platform::set_mode(path_, access.mode.value_or(mode_by_directory(path_.parent_path())));
}

// No other file has the inode as long as the socket is open, whoever listens on it.
bool SocketFile::is_there() const noexcept {
    struct stat status {};
    return inode_ != 0 && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

void SocketFile::remove() noexcept {
    if (is_there())
        ::unlink(path_.c_str());
    inode_ = 0;
}

ListeningPort listen_on_port(const std::string& host, std::uint16_t port) {
    LoopbackAddress address(host, port);
    Descriptor socket = new_socket(address.any.sa_family, address.name());
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.get(), &address.any, address.size()) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
        if (errno == EADDRINUSE)
            throw Error(ErrorCode::busy, address.name(), "another process listens on " + address.name());
        throw system_failure("listen on", address.name(), errno);
    }
    socklen_t size = address.size();
    if (::getsockname(socket.get(), &address.any, &size) != 0)
        throw system_failure("look at the port of", address.name(), errno);
    return {std::move(socket), address.name()};
}

std::optional<std::filesystem::path> broker_served_on_port(const std::string& host, std::uint16_t port) {
    constexpr std::chrono::milliseconds kPatience{1'000};
    const LoopbackAddress address(host, port);
    Descriptor socket = new_socket(address.any.sa_family, address.name());
    if (::connect(socket.get(), &address.any, address.size()) != 0 && errno != EINPROGRESS)
        return std::nullopt;
    pollfd connecting{socket.get(), POLLOUT, 0};
    if (::poll(&connecting, 1, static_cast<int>(kPatience.count())) != 1)
        return std::nullopt;
    auto request = platform::LocalHttp::over(std::move(socket));
    request.ask("GET", "/v1/health");
    if (request.wait(kPatience) != platform::LocalHttp::State::done)
        return std::nullopt;
    const auto health = nlohmann::json::parse(request.reply().body, nullptr, false);
    const auto directory = health.is_object() ? health.find("directory") : health.end();
    return directory != health.end() && directory->is_string() ? std::optional(directory->get<std::string>())
                                                               : std::nullopt;
}

}  // namespace ringmain::daemon
