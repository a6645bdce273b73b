// Listens, takes in requests, has them answered, and sends the answers. One thread waits for all sockets. A client that
// says nothing, or does not read, costs a place in a bounded table for a bounded time; a user who asks much waits for
// himself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "http_connection.hpp"
#include "http_router.hpp"
#include "http_workers.hpp"
#include "platform/descriptor.hpp"

namespace ringmain::daemon {

struct HttpLimits {
    std::size_t connections = 256;
    /// When a user, or all of a port together, have so many that are not being answered, the oldest of them is closed.
    std::size_t connections_per_user = 64;
    /// Requests that are being answered, or wait for it; more are refused. So there is always room for one that is
    /// answered at once.
    std::size_t answered = 192;
    std::size_t answered_per_user = 64;
    /// Answers that are not read: when a user, or all of a port together, have more, the oldest are closed.
    std::size_t unsent_bytes_per_user = std::size_t{64} << 20;
    std::chrono::milliseconds request{5'000};  ///< From the connection to the whole request.
    std::chrono::milliseconds answer{10'000};  ///< From the answer to its last byte.
    std::size_t threads_per_kind = 2;
};

/// How a request is worked on.
enum class HttpWork : std::uint8_t {
    at_once,  ///< By the thread that waits for the sockets: must take no time.
    look,
    change,
};

struct HttpEndpoint {
    platform::Descriptor socket;  ///< Listens, without blocking.
    bool knows_peers = false;     ///< A Unix socket.
    std::shared_ptr<const HttpRouter> router;
    std::function<HttpWork(std::string_view method, std::string_view target)> work_of;
};

class HttpServer {
public:
    explicit HttpServer(std::vector<HttpEndpoint> endpoints, const HttpLimits& limits = {});
    ~HttpServer() { stop(); }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// Before start(): calls `call` in the server's thread whenever the descriptor is readable (-1: never), and when
    /// the time has passed that its last call returned, if it did. It must make the descriptor unreadable, and not
    /// throw.
    void watch(int descriptor, std::function<std::optional<std::chrono::milliseconds>()> call);
    /// In such a call: listens on another socket from now on.
    void replace(std::size_t endpoint, platform::Descriptor socket) { endpoints_[endpoint].socket = std::move(socket); }

    /// Throws std::system_error if there is no thread or descriptor left.
    void start();
    /// Calls off what is under way. Nothing of it runs afterwards.
    void stop() noexcept;

private:
    struct Entry {
        std::size_t endpoint;
        HttpConnection connection;
    };
    using Clock = HttpConnection::Clock;

    void run() noexcept;
    void serve_once();
    [[nodiscard]] int timeout_ms(Clock::time_point now) const noexcept;
    void accept_from(std::size_t endpoint);
    [[nodiscard]] static bool is_of(const Entry& entry, std::size_t endpoint, const PeerUser& user);
    [[nodiscard]] bool make_room(std::size_t endpoint, const PeerUser& user);
    [[nodiscard]] std::optional<HttpRefusal> too_many(const Entry& entry) const;
    void dispatch(Entry& entry);
    void answer_ready(Entry& entry);
    void drop_unread(const Entry& newest);
    void look_after_watched(bool is_readable);
    void answer(const std::shared_ptr<HttpJob>& job, const HttpRouter& router) const noexcept;
    void wake() const noexcept;

    std::vector<HttpEndpoint> endpoints_;
    HttpLimits limits_;
    platform::Descriptor wake_;
    int watched_ = -1;
    std::function<std::optional<std::chrono::milliseconds>()> on_watched_;
    std::optional<Clock::time_point> watched_again_;
    std::atomic<bool> stopping_{false};
    std::list<Entry> entries_;  // by age
    Clock::time_point accepts_again_{};
    HttpWorkers workers_;
    std::thread thread_;
};

}  // namespace ringmain::daemon
