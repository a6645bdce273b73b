// One connection: a request comes in, is answered elsewhere, and the answer goes out.
#include "http_connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "http_router.hpp"

namespace ringmain::daemon {

short HttpConnection::events() const noexcept {
    switch (state_) {
        case State::receiving:
            return POLLIN;
        case State::sending:
            return POLLOUT;
        case State::answering:
            return POLLRDHUP;
        default:
            return 0;
    }
}

bool HttpConnection::is_called_off() const noexcept {
    return state_ == State::answering && job_->called_off.load(std::memory_order_relaxed);  // relaxed: see HttpJob
}

void HttpConnection::on_events(short events) {
    switch (state_) {
        case State::receiving:
            if ((events & (POLLIN | POLLHUP | POLLERR)) != 0)
                receive();
            break;
        case State::sending:
            if ((events & (POLLOUT | POLLHUP | POLLERR)) != 0)
                send_some();
            break;
        case State::answering:
            if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
                call_off();
            break;
        default:
            break;
    }
}

void HttpConnection::receive() {
    std::array<char, 16'384> piece;
    for (;;) {
        const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            state_ = State::over;
            return;
        }
        intake_.take({piece.data(), static_cast<std::size_t>(got)});
        if (intake_.refusal())
            return send(HttpRouter::refuse(*intake_.refusal()), deadline_);
        if (intake_.complete()) {
            state_ = State::complete;
            return;
        }
    }
}

std::shared_ptr<HttpJob> HttpConnection::begin() {
    job_ = std::make_shared<HttpJob>();
    job_->request = intake_.text();
    job_->peer = peer_;
    job_->arrived = Clock::now();
    state_ = State::answering;
    return job_;
}

bool HttpConnection::collect(Clock::time_point deadline) {
    // acquire: the worker's release, behind which the answer is there
    if (state_ != State::answering || !job_->done.load(std::memory_order_acquire))
        return false;
    send(std::move(job_->answer), deadline);
    return true;
}

void HttpConnection::send(std::string answer, Clock::time_point deadline) {
    unsent_ = std::move(answer);
    deadline_ = deadline;
    state_ = State::sending;
    send_some();
}

void HttpConnection::send_some() {
    while (sent_bytes_ < unsent_.size()) {
        const ssize_t sent =
            ::send(socket_.get(), unsent_.data() + sent_bytes_, unsent_.size() - sent_bytes_, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0)
            break;
        sent_bytes_ += static_cast<std::size_t>(sent);
    }
    state_ = State::over;
}

void HttpConnection::give_up() noexcept {
    if (state_ != State::sending)
        return;
    unsent_ = {};
    sent_bytes_ = 0;
    state_ = State::over;
}

void HttpConnection::call_off() noexcept {
    if (job_)
        job_->called_off.store(true, std::memory_order_relaxed);  // relaxed: see HttpJob
}

}  // namespace ringmain::daemon
