// Threads that answer requests: some for looking, others for changes, so that long creations hold up nobody who looks.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

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
    /// Each job is done once, in the order in which it came, unless stop() comes first. Must not throw.
    void add(WorkKind kind, std::function<void()> job);
    /// Ends when the jobs under way end; the others are dropped.
    void stop() noexcept;

private:
    void work(std::size_t kind);

    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::array<std::deque<std::function<void()>>, 2> jobs_;
    std::vector<std::thread> threads_;
};

}  // namespace ringmain::daemon
