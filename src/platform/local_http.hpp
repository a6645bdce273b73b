// One HTTP/1.1 request over a Unix socket, in steps that never wait longer than they are told to.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "platform/descriptor.hpp"

namespace ringmain::platform {

struct HttpReply {
    int status = 0;
    std::string body;
};

/// Nothing here waits for the other side longer than it is told to. What that answers is input: bounded and checked.
class LocalHttp {
public:
    /// Connects, and waits that long while too many others wait to be accepted; then `wait` never gets an answer.
    /// Nothing: nobody listens there. Throws Error: permission_denied, limit, io.
    [[nodiscard]] static std::optional<LocalHttp> connect(const std::filesystem::path& socket,
                                                          std::chrono::milliseconds timeout);

    /// Over a connection that is there, of any kind that does not block.
    [[nodiscard]] static LocalHttp over(Descriptor connection) noexcept { return LocalHttp(std::move(connection), true); }

    enum class State : std::uint8_t {
        waiting,  ///< The answer is not complete.
        done,     ///< `reply` has it.
        lost,     ///< The other side ended the connection without a whole answer, or answered something else than HTTP.
    };
    /// A request to be sent by `wait`. `target` must be percent-encoded.
    void ask(std::string_view method, std::string_view target, std::string_view body = {});
    [[nodiscard]] State wait(std::chrono::milliseconds timeout);
    /// Requires `done`.
    [[nodiscard]] const HttpReply& reply() const noexcept { return reply_; }

    /// Tells the other side that the answer is no longer wanted; it may come all the same.
    void call_off() noexcept;

    /// Of the process that listens, in this one's pid namespace; 0: it is in another one, or not known.
    [[nodiscard]] std::int32_t peer_pid() const noexcept;

private:
    enum class Step : std::uint8_t { again, later, ended };

    explicit LocalHttp(Descriptor socket, bool connected) noexcept
        : socket_(std::move(socket)), connected_(connected) {}
    Step send_some() noexcept;
    Step receive_some();
    State parse(bool ended);

    Descriptor socket_;
    bool connected_;
    State state_ = State::waiting;
    std::string unsent_;
    std::string received_;
    HttpReply reply_;
};

}  // namespace ringmain::platform
