// Threads that answer requests.
#include "http_workers.hpp"

#include <utility>

namespace ringmain::daemon {

void HttpWorkers::start(std::size_t threads_per_kind) {
    for (std::size_t kind = 0; kind < queues_.size(); ++kind) {
        for (std::size_t i = 0; i < threads_per_kind; ++i)
            threads_.emplace_back([this, kind] { work(kind); });
    }
}

void HttpWorkers::add(WorkKind kind, const PeerUser& user, std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        Queue& queue = queues_[static_cast<std::size_t>(kind)];
        auto& of_user = queue.jobs[user];
        if (of_user.empty())
            queue.turns.push_back(user);
        of_user.push_back(std::move(job));
    }
    wake_.notify_all();
}

/// Requires one.
std::function<void()> HttpWorkers::take(Queue& queue) {
    const auto of_user = queue.jobs.find(queue.turns.front());
    queue.turns.pop_front();
    std::function<void()> job = std::move(of_user->second.front());
    of_user->second.pop_front();
    if (of_user->second.empty())
        queue.jobs.erase(of_user);
    else
        queue.turns.push_back(of_user->first);
    return job;
}

void HttpWorkers::work(std::size_t kind) {
    for (;;) {
        std::function<void()> job;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return stopping_ || !queues_[kind].turns.empty(); });
            if (stopping_)
                return;
            job = take(queues_[kind]);
        }
        job();
    }
}

void HttpWorkers::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        queues_ = {};
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
    threads_.clear();
}

}  // namespace ringmain::daemon
