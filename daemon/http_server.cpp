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

bool is_answered(const HttpConnection& connection) noexcept {
    return connection.state() == HttpConnection::State::answering;
}

}  // namespace

HttpServer::HttpServer(std::vector<HttpEndpoint> endpoints, const HttpLimits& limits)
    : endpoints_(std::move(endpoints)), limits_(limits) {}

void HttpServer::watch(int descriptor, std::function<std::optional<std::chrono::milliseconds>()> call) {
    watched_ = descriptor;
    on_watched_ = std::move(call);
    watched_again_ = Clock::now();
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
    if (watched_again_)
        consider(*watched_again_);
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
        answer_ready(entry);
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
    look_after_watched(sockets[kWatched].revents != 0);
}

void HttpServer::look_after_watched(bool is_readable) {
    if (!is_readable && !(watched_again_ && *watched_again_ <= Clock::now()))
        return;
    const auto again = on_watched_();
    watched_again_ = again ? std::optional(Clock::now() + *again) : std::nullopt;
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
        if (make_room(endpoint, user_of(peer)))
            entries_.push_back(
                {endpoint, HttpConnection(std::move(socket), std::move(peer), Clock::now() + limits_.request)});
    }
}

bool HttpServer::is_of(const Entry& entry, std::size_t endpoint, const PeerUser& user) {
    return entry.endpoint == endpoint && user_of(entry.connection.peer()) == user;
}

// False: all that could make room are being answered; the new one is closed.
bool HttpServer::make_room(std::size_t endpoint, const PeerUser& user) {
    const auto may_go = [&](const Entry& entry) { return !is_answered(entry.connection); };
    const auto may_go_of_user = [&](const Entry& entry) { return may_go(entry) && is_of(entry, endpoint, user); };
    const auto of_user = static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), may_go_of_user));
    const bool too_many_of_user = of_user >= limits_.connections_per_user;
    if (!too_many_of_user && entries_.size() < limits_.connections)
        return true;
    const auto victim = too_many_of_user ? std::find_if(entries_.begin(), entries_.end(), may_go_of_user)
                                         : std::find_if(entries_.begin(), entries_.end(), may_go);
    if (victim == entries_.end())
        return false;
    entries_.erase(victim);
    return true;
}

/// Why one more request of the user is not answered, if so.
std::optional<HttpRefusal> HttpServer::too_many(const Entry& entry) const {
    const PeerUser user = user_of(entry.connection.peer());
    const auto is_one = [](const Entry& other) { return is_answered(other.connection); };
    const auto is_his = [&](const Entry& other) { return is_one(other) && is_of(other, entry.endpoint, user); };
    constexpr int kTooManyRequests = 429;
    const auto his = static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), is_his));
    if (his >= limits_.answered_per_user) {
        const std::string who = user ? "user " + std::to_string(*user) : std::string("users of this port");
        return HttpRefusal{kTooManyRequests,
                           who + " has " + std::to_string(his) +
                               " requests that are not answered yet, the most there may be; ask again later"};
    }
    const auto all = static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), is_one));
    if (all < limits_.answered)
        return std::nullopt;
    return HttpRefusal{kTooManyRequests,
                       std::to_string(all) + " requests are not answered yet, the most there may be; ask again later"};
}

void HttpServer::dispatch(Entry& entry) {
    const HttpEndpoint& endpoint = endpoints_[entry.endpoint];
    const HttpIntake& intake = entry.connection.intake();
    const HttpWork work = endpoint.work_of(intake.method(), intake.target());
    if (work != HttpWork::at_once) {
        if (const auto refusal = too_many(entry))
            return entry.connection.send(HttpRouter::refuse(*refusal), Clock::now() + limits_.answer);
    }
    const std::shared_ptr<HttpJob> job = entry.connection.begin();
    if (work == HttpWork::at_once) {
        answer(job, *endpoint.router);
        return answer_ready(entry);
    }
    const WorkKind kind = work == HttpWork::look ? WorkKind::look : WorkKind::change;
    workers_.add(kind, user_of(job->peer), [this, job, router = endpoint.router] {
        answer(job, *router);
        wake();
    });
}

/// Begins to send the answer, if it is there.
void HttpServer::answer_ready(Entry& entry) {
    if (entry.connection.collect(Clock::now() + limits_.answer) && entry.connection.unsent_bytes() != 0)
        drop_unread(entry);
}

/// Whoever reads slowly keeps what is his from the daemon's memory, not what is others'.
void HttpServer::drop_unread(const Entry& newest) {
    const PeerUser user = user_of(newest.connection.peer());
    std::size_t bytes = 0;
    for (const Entry& entry : entries_)
        bytes += is_of(entry, newest.endpoint, user) ? entry.connection.unsent_bytes() : 0;
    for (Entry& entry : entries_) {
        if (bytes <= limits_.unsent_bytes_per_user)
            return;
        if (&entry == &newest || !is_of(entry, newest.endpoint, user))
            continue;
        bytes -= entry.connection.unsent_bytes();
        entry.connection.give_up();
    }
}

void HttpServer::answer(const std::shared_ptr<HttpJob>& job, const HttpRouter& router) const noexcept {
    try {
        job->answer = router.answer(*job);
    } catch (const std::exception&) {
        job->answer.clear();  // the connection is closed without one
    }
    job->done.store(true, std::memory_order_release);  // release: the answer is there
}

}  // namespace ringmain::daemon
