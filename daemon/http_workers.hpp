// Threads that answer requests: some for looking, others for changes, so that long creations hold up nobody who looks.
// The users who wait take turns, so that whoever asks much holds up himself.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "http_peer.hpp"

namespace ringmain::daemon {

enum class WorkKind : std::uint8_t { look, change };

/// Thread safety: add() from any thread; start and stop from one.
class HttpWorkers {
public:
    HttpWorkers() = default;
    HttpWorkers(const HttpWorkers&) = delete;
    HttpWorkers& operator=(const HttpWorkers&) = delete;
    ~HttpWorkers() { stop(); }

    void start(std::size_t threads_per_kind);
    /// Each job is done once, unless stop() comes first: those of one user in the order in which they came. Must not
    /// throw.
    void add(WorkKind kind, const PeerUser& user, std::function<void()> job);
    /// Ends when the jobs under way end; the others are dropped.
    void stop() noexcept;

private:
    /// Jobs that wait, of one kind.
    struct Queue {
        std::map<PeerUser, std::deque<std::function<void()>>> jobs;  // of those who have any
        std::deque<PeerUser> turns;                                  // those, the next one first
    };

    void work(std::size_t kind);
    [[nodiscard]] static std::function<void()> take(Queue& queue);

    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::array<Queue, 2> queues_;
    std::vector<std::thread> threads_;
};

}  // namespace ringmain::daemon
