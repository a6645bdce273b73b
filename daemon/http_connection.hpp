// One connection: a request comes in, is answered elsewhere, and the answer goes out.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "http_intake.hpp"
#include "http_job.hpp"
#include "http_peer.hpp"
#include "platform/descriptor.hpp"

namespace ringmain::daemon {

/// Never waits: everything is done as far as the socket lets, and poll() says when to go on.
class HttpConnection {
public:
    using Clock = std::chrono::steady_clock;
    enum class State { receiving, complete, answering, sending, over };

    HttpConnection(platform::Descriptor socket, std::optional<Peer> peer, Clock::time_point deadline)
        : socket_(std::move(socket)), peer_(std::move(peer)), deadline_(deadline) {}

    [[nodiscard]] State state() const noexcept { return state_; }
    /// For poll(); -1: nothing is to be known of it, not even that the client is gone.
    [[nodiscard]] int socket() const noexcept { return is_called_off() ? -1 : socket_.get(); }
    [[nodiscard]] const std::optional<Peer>& peer() const noexcept { return peer_; }
    /// What poll() is to wait for.
    [[nodiscard]] short events() const noexcept;
    /// When it is closed if nothing comes or goes until then; while it is answered there is no such time.
    [[nodiscard]] std::optional<Clock::time_point> deadline() const noexcept {
        return state_ == State::answering ? std::nullopt : std::optional(deadline_);
    }

    /// `complete` afterwards: the request is whole, and somebody has to `begin` to answer it.
    void on_events(short events);
    [[nodiscard]] const HttpIntake& intake() const noexcept { return intake_; }
    [[nodiscard]] std::shared_ptr<HttpJob> begin();
    /// If the job is done, its answer is sent from now on. Says whether it was.
    bool collect(Clock::time_point deadline);
    void send(std::string answer, Clock::time_point deadline);
    void call_off() noexcept;
    /// Of an answer that is being sent.
    [[nodiscard]] std::size_t unsent_bytes() const noexcept { return unsent_.size() - sent_bytes_; }
    /// Sends no more of an answer.
    void give_up() noexcept;

private:
    [[nodiscard]] bool is_called_off() const noexcept;
    void receive();
    void send_some();

    platform::Descriptor socket_;
    std::optional<Peer> peer_;
    Clock::time_point deadline_;
    State state_ = State::receiving;
    HttpIntake intake_;
    std::shared_ptr<HttpJob> job_;
    std::string unsent_;
    std::size_t sent_bytes_ = 0;
};

}  // namespace ringmain::daemon
