// Records in the hands of handlers that run elsewhere: how many there may be, and what their handlers said.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/futex.hpp"
#include "ringmain/retry.hpp"

namespace ringmain {

/// Runs a function, now or later, on whatever thread.
using Runs = std::function<void(std::function<void()>)>;

/// `Task`: has `copy.record()` and `attempt`. One thread starts and collects; handlers run where `runs` runs them, or
/// if that is empty inside start.
template <class Task>
class InFlight {
public:
    struct Done {
        std::shared_ptr<Task> task;
        std::optional<Handled> handled;  // nothing: the handler was not called
    };

    InFlight(Runs runs, std::size_t most) : runs_(std::move(runs)), most_(most), shared_(std::make_shared<Shared>()) {}
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

    [[nodiscard]] std::size_t room() const noexcept { return most_ - size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool elsewhere() const noexcept { return static_cast<bool>(runs_); }

    /// A task to be filled and started; its memory is used again.
    [[nodiscard]] std::shared_ptr<Task> spare() {
        if (spare_.empty())
            return std::make_shared<Task>();
        std::shared_ptr<Task> task = std::move(spare_.back());
        spare_.pop_back();
        return task;
    }
    void give_back_spare(std::shared_ptr<Task> task) {
        if (spare_.size() < most_)
            spare_.push_back(std::move(task));
    }

    /// Requires room, and a handler that outlives what is in flight.
    void start(std::shared_ptr<Task> task, const RetryHandler& handler) {
        ++size_;
        auto errand = std::make_shared<Errand>(shared_, std::move(task));
        if (!runs_)
            return errand->run(handler);
        try {
            runs_([errand, &handler] { errand->run(handler); });
        } catch (const std::exception& error) {
            refusal_ = error.what();
        } catch (...) {
            refusal_ = "an exception that is no std::exception";
        }
    }
    /// Why the caller's threads took no more, if they did not; what was to be run comes back as not called.
    [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

    /// Calls `use(done)` for each that is finished, on this thread.
    template <class Use>
    std::size_t collect(const Use& use) {
        std::vector<Done> done;
        {
            const std::lock_guard lock(shared_->mutex);
            done.swap(shared_->done);
        }
        for (Done& one : done) {
            --size_;
            use(one);
            if (one.task.use_count() == 1)
                give_back_spare(std::move(one.task));
        }
        return done.size();
    }

    /// Waits until something is to be collected. False: nothing within the time.
    bool wait(std::chrono::nanoseconds timeout) const {
        std::unique_lock lock(shared_->mutex);
        return shared_->changed.wait_for(lock, timeout, [&] { return !shared_->done.empty(); });
    }
    /// To sleep on beside others: changes when something is to be collected. To be asked before the last look.
    [[nodiscard]] platform::FutexWait word() const noexcept {
        return {&shared_->changes, shared_->changes.load(std::memory_order_acquire)};  // acquire DONE_ELSEWHERE
    }

    /// Ends a sleep on the word; any thread.
    void poke() const noexcept { shared_->ring(); }

    /// Handlers that have not begun are not called any more.
    void call_no_more() noexcept {
        shared_->ending.store(true, std::memory_order_relaxed);
    }  // relaxed: one more does no harm

private:
    struct Shared {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<Done> done;  // guarded by mutex
        std::atomic<std::uint32_t> changes{0};
        std::atomic<bool> ending{false};

        void put(Done one) {
            {
                const std::lock_guard lock(mutex);
                done.push_back(std::move(one));
            }
            changed.notify_one();
            ring();
        }
        void ring() noexcept {
            changes.fetch_add(1, std::memory_order_release);  // release DONE_ELSEWHERE
            platform::futex_wake_all(changes);
        }
    };

    /// Comes back exactly once, even if nobody ever runs it.
    class Errand {
    public:
        Errand(std::shared_ptr<Shared> shared, std::shared_ptr<Task> task) noexcept
            : shared_(std::move(shared)), task_(std::move(task)) {}
        Errand(const Errand&) = delete;
        Errand& operator=(const Errand&) = delete;
        ~Errand() {
            if (task_)
                shared_->put({std::move(task_), std::nullopt});
        }
        void run(const RetryHandler& handler) {
            if (!task_)
                return;  // it was run before
            std::optional<Handled> handled;
            if (!shared_->ending.load(std::memory_order_relaxed))
                handled = call(handler);  // relaxed: see call_no_more
            shared_->put({std::move(task_), std::move(handled)});
        }

    private:
        [[nodiscard]] Handled call(const RetryHandler& handler) const {
            try {
                return handler(task_->copy.record(), task_->attempt);
            } catch (const std::exception& error) {
                return Handled::failure(error.what());
            } catch (...) {
                return Handled::failure("an exception that is no std::exception");
            }
        }
        std::shared_ptr<Shared> shared_;
        std::shared_ptr<Task> task_;
    };

    Runs runs_;
    std::size_t most_;
    std::shared_ptr<Shared> shared_;
    std::size_t size_ = 0;
    std::vector<std::shared_ptr<Task>> spare_;
    std::string refusal_;
};

}  // namespace ringmain
