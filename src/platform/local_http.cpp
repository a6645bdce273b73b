// One HTTP/1.1 request over a Unix socket, in steps that never wait longer than they are told to.
#include "platform/local_http.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <thread>

#include "platform/local_address.hpp"
#include "platform/system_failure.hpp"

namespace ringmain::platform {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReplyBytesMax = std::size_t{16} << 20;
constexpr std::chrono::milliseconds kQueuePause{5};
constexpr std::string_view kHeadEnd = "\r\n\r\n";

bool same_letters(std::string_view a, std::string_view b) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
    while (text.starts_with(' '))
        text.remove_prefix(1);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

// "HTTP/1.1 404 Not Found" -> 404; 0: it is none.
int status_in(std::string_view line) noexcept {
    constexpr std::size_t kVersion = 9;  // "HTTP/1.1 "
    constexpr std::size_t kDigits = 3;
    if (!line.starts_with("HTTP/1.") || line.size() < kVersion + kDigits)
        return 0;
    const auto status = number_in(line.substr(kVersion, kDigits));
    return status && *status >= 100 ? static_cast<int>(*status) : 0;
}

// Nothing: no header of that name with a number for a value.
std::optional<std::uint64_t> numeric_header(std::string_view head, std::string_view name) noexcept {
    while (!head.empty()) {
        const std::size_t end = std::min(head.find("\r\n"), head.size());
        const std::string_view line = head.substr(0, end);
        head.remove_prefix(std::min(head.size(), end + 2));
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && same_letters(line.substr(0, colon), name))
            return number_in(line.substr(colon + 1));
    }
    return std::nullopt;
}

// errno, or 0.
int connect_once(const Descriptor& socket, const LocalAddress& address) noexcept {
    int failure = EINTR;
    while (failure == EINTR)
        failure = ::connect(socket.get(), address.get(), LocalAddress::size()) == 0 ? 0 : errno;
    return failure;
}

}  // namespace

std::optional<LocalHttp> LocalHttp::connect(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
    std::optional<LocalAddress> address;
    try {
        address.emplace(socket);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::not_found)
            return std::nullopt;
        throw;
    }
    Descriptor descriptor(beyond_streams(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
    if (!descriptor)
        throw system_failure("open a socket for", socket, errno);
    const auto deadline = Clock::now() + timeout;
    int failure = connect_once(descriptor, *address);
    while (failure == EAGAIN && Clock::now() < deadline) {  // the queue of those who wait to be accepted is full
        std::this_thread::sleep_for(kQueuePause);
        failure = connect_once(descriptor, *address);
    }
    switch (failure) {
        case 0:
            return LocalHttp(std::move(descriptor), true);
        case EAGAIN:
            return LocalHttp(std::move(descriptor), false);
        case ENOENT:
        case ENOTDIR:
        case ECONNREFUSED:  // a file, or a socket whose owner is gone
        case EPROTOTYPE:    // a socket of another kind
        case ENOTSOCK:
            return std::nullopt;
        default:
            throw system_failure("connect to", socket, failure);
    }
}

void LocalHttp::ask(std::string_view method, std::string_view target, std::string_view body) {
    unsent_.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: ringmain\r\nConnection: close\r\n");
    if (!body.empty())
        unsent_.append("Content-Type: application/json\r\n");
    unsent_.append("Content-Length: ").append(std::to_string(body.size())).append(kHeadEnd).append(body);
}

LocalHttp::Step LocalHttp::send_some() noexcept {
    const ssize_t sent = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
        unsent_.erase(0, static_cast<std::size_t>(sent));
        return unsent_.empty() ? Step::later : Step::again;
    }
    if (errno == EINTR)
        return Step::again;
    if (errno != EAGAIN)
        unsent_.clear();  // whoever refuses may have answered
    return Step::later;
}

LocalHttp::Step LocalHttp::receive_some() {
    std::array<char, 65'536> piece;
    const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (got > 0) {
        received_.append(piece.data(), static_cast<std::size_t>(got));
        return received_.size() > kReplyBytesMax ? Step::ended : Step::again;
    }
    if (got < 0 && errno == EINTR)
        return Step::again;
    return got < 0 && errno == EAGAIN ? Step::later : Step::ended;
}

LocalHttp::State LocalHttp::parse(bool ended) {
    const std::size_t head_end = received_.find(kHeadEnd);
    if (head_end == std::string::npos)
        return ended ? State::lost : State::waiting;
    const std::string_view head = std::string_view(received_).substr(0, head_end);
    const std::string_view body = std::string_view(received_).substr(head_end + kHeadEnd.size());
    const int status = status_in(head);
    const auto length = numeric_header(head, "Content-Length");
    if (status == 0 || !length || *length > kReplyBytesMax)
        return State::lost;
    if (body.size() < *length)
        return ended ? State::lost : State::waiting;
    reply_ = {status, std::string(body.substr(0, *length))};
    return State::done;
}

LocalHttp::State LocalHttp::wait(std::chrono::milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    while (connected_ && state_ == State::waiting) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd one{socket_.get(), static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
        if (::poll(&one, 1, static_cast<int>(std::max(left.count(), std::chrono::milliseconds::rep{0}))) == 0)
            break;
        while ((one.revents & POLLOUT) != 0 && send_some() == Step::again) {
        }
        if ((one.revents & (POLLIN | POLLHUP | POLLERR)) == 0)
            continue;
        Step step = Step::again;
        while (step == Step::again)
            step = receive_some();
        state_ = parse(step == Step::ended);
    }
    return state_;
}

void LocalHttp::call_off() noexcept { ::shutdown(socket_.get(), SHUT_WR); }

std::int32_t LocalHttp::peer_pid() const noexcept {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace ringmain::platform
