// Listens, takes in requests, has them answered, and sends the answers.
#include "http_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace ringmain::daemon {

namespace {

using namespace std::chrono_literals;

constexpr auto kAcceptPause = 100ms;  // without a descriptor left, waiting for the listening sockets would not wait
constexpr int kAcceptsAtOnce = 64;
constexpr std::size_t kWatched = 1;  // among what is polled, after what wakes the thread up
constexpr std::size_t kFirstEndpoint = 2;

bool is_over(const HttpConnection& connection) noexcept { return connection.state() == HttpConnection::State::over; }

bool is_unfinished(const HttpConnection& connection) noexcept {
    return connection.state() == HttpConnection::State::receiving ||
           connection.state() == HttpConnection::State::sending;
}

}  // namespace

HttpServer::HttpServer(std::vector<HttpEndpoint> endpoints, const HttpLimits& limits)
    : endpoints_(std::move(endpoints)), limits_(limits) {}

void HttpServer::watch(int descriptor, std::function<void()> call) {
    watched_ = descriptor;
    on_watched_ = std::move(call);
}

void HttpServer::start() {
    wake_ = platform::Descriptor(platform::beyond_streams(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
    if (!wake_)
        throw std::system_error(errno, std::generic_category(), "eventfd");
    workers_.start(limits_.threads_per_kind);
    thread_ = std::thread([this] { run(); });
}

void HttpServer::stop() noexcept {
    stopping_.store(true, std::memory_order_relaxed);  // relaxed: the wake-up orders it
    wake();
    if (thread_.joinable())
        thread_.join();
    for (Entry& entry : entries_)
        entry.connection.call_off();
    workers_.stop();
    entries_.clear();
    endpoints_.clear();
}

void HttpServer::wake() const noexcept {
    const std::uint64_t one = 1;
    if (wake_)
        (void)!::write(wake_.get(), &one, sizeof one);  // full: it is awake
}

void HttpServer::run() noexcept {
    while (!stopping_.load(std::memory_order_relaxed)) {  // relaxed: see stop
        try {
            serve_once();
        } catch (const std::exception&) {
            std::this_thread::sleep_for(kAcceptPause);  // no memory: those who are served may give some back
        }
    }
}

int HttpServer::timeout_ms(Clock::time_point now) const noexcept {
    std::optional<Clock::time_point> next;
    const auto consider = [&](Clock::time_point when) { next = next ? std::min(*next, when) : when; };
    for (const Entry& entry : entries_) {
        if (const auto deadline = entry.connection.deadline())
            consider(*deadline);
    }
    if (accepts_again_ > now)
        consider(accepts_again_);
    if (!next)
        return -1;
    return static_cast<int>(
        std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(*next - now).count()));
}

void HttpServer::serve_once() {
    std::vector<pollfd> sockets{{wake_.get(), POLLIN, 0}, {watched_, POLLIN, 0}};
    const bool accepts = accepts_again_ <= Clock::now();
    for (const HttpEndpoint& endpoint : endpoints_)
        sockets.push_back({accepts ? endpoint.socket.get() : -1, POLLIN, 0});
    for (const Entry& entry : entries_)
        sockets.push_back({entry.connection.socket(), entry.connection.events(), 0});
    const std::size_t first_entry = kFirstEndpoint + endpoints_.size();
    if (::poll(sockets.data(), sockets.size(), timeout_ms(Clock::now())) < 0)
        return;
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    const auto now = Clock::now();
    std::size_t at = first_entry;
    for (Entry& entry : entries_) {
        entry.connection.collect(now + limits_.answer);
        entry.connection.on_events(sockets[at++].revents);
        if (entry.connection.state() == HttpConnection::State::complete)
            dispatch(entry);
    }
    entries_.remove_if([&](const Entry& entry) {
        const auto deadline = entry.connection.deadline();
        return is_over(entry.connection) || (deadline && *deadline <= now);
    });
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
        if (sockets[kFirstEndpoint + i].revents != 0)
            accept_from(i);
    }
    if (sockets[kWatched].revents != 0)
        on_watched_();
}

void HttpServer::accept_from(std::size_t endpoint) {
    for (int i = 0; i < kAcceptsAtOnce; ++i) {
        platform::Descriptor socket(platform::beyond_streams(
            ::accept4(endpoints_[endpoint].socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
        if (!socket && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (!socket) {
            if (errno != EAGAIN)
                accepts_again_ = Clock::now() + kAcceptPause;
            return;
        }
        std::optional<Peer> peer;
        if (endpoints_[endpoint].knows_peers)
            peer = peer_of(socket.get());
        if (make_room(endpoint, peer))
            entries_.push_back(
                {endpoint, HttpConnection(std::move(socket), std::move(peer), Clock::now() + limits_.request)});
    }
}

// False: all that could make room are being answered; the new one is closed.
bool HttpServer::make_room(std::size_t endpoint, const std::optional<Peer>& peer) {
    const auto is_of_same_user = [&](const Entry& entry) {
        return entry.endpoint == endpoint && peer.has_value() == entry.connection.peer().has_value() &&
               (!peer || peer->uid == entry.connection.peer()->uid);
    };
    const auto of_user = static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), is_of_same_user));
    const bool too_many_of_user = of_user >= limits_.connections_per_user;
    if (!too_many_of_user && entries_.size() < limits_.connections)
        return true;
    const auto victim = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return is_unfinished(entry.connection) && (!too_many_of_user || is_of_same_user(entry));
    });
    if (victim == entries_.end())
        return false;
    entries_.erase(victim);
    return true;
}

void HttpServer::dispatch(Entry& entry) {
    const HttpEndpoint& endpoint = endpoints_[entry.endpoint];
    const HttpIntake& intake = entry.connection.intake();
    const HttpWork work = endpoint.work_of(intake.method(), intake.target());
    const std::shared_ptr<HttpJob> job = entry.connection.begin();
    if (work == HttpWork::at_once) {
        answer(job, *endpoint.router);
        return entry.connection.collect(Clock::now() + limits_.answer);
    }
    workers_.add(work == HttpWork::look ? WorkKind::look : WorkKind::change, [this, job, router = endpoint.router] {
        answer(job, *router);
        wake();
    });
}

void HttpServer::answer(const std::shared_ptr<HttpJob>& job, const HttpRouter& router) const noexcept {
    try {
        job->answer = router.answer(job->request, job->peer, job->called_off);
    } catch (const std::exception&) {
        job->answer.clear();  // the connection is closed without one
    }
    job->done.store(true, std::memory_order_release);  // release: the answer is there
}

}  // namespace ringmain::daemon
