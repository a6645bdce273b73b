// Threads that answer requests.
#include "http_workers.hpp"

#include <utility>

namespace ringmain::daemon {

void HttpWorkers::start(std::size_t threads_per_kind) {
    for (std::size_t kind = 0; kind < jobs_.size(); ++kind) {
        for (std::size_t i = 0; i < threads_per_kind; ++i)
            threads_.emplace_back([this, kind] { work(kind); });
    }
}

void HttpWorkers::add(WorkKind kind, std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_[static_cast<std::size_t>(kind)].push_back(std::move(job));
    }
    wake_.notify_all();
}

void HttpWorkers::work(std::size_t kind) {
    for (;;) {
        std::function<void()> job;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return stopping_ || !jobs_[kind].empty(); });
            if (stopping_)
                return;
            job = std::move(jobs_[kind].front());
            jobs_[kind].pop_front();
        }
        job();
    }
}

void HttpWorkers::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (auto& jobs : jobs_)
            jobs.clear();
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
    threads_.clear();
}

}  // namespace ringmain::daemon
