// The pollable descriptor of a consumer.
#include "readiness.hpp"

#include <algorithm>
#include <utility>

#include "doorbell_sleep.hpp"

namespace ringmain {

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point after(std::chrono::nanoseconds duration) noexcept {
    const Clock::time_point now = Clock::now();
    return duration < Clock::time_point::max() - now ? now + duration : Clock::time_point::max();
}

}  // namespace

bool Readiness::Armed::anything_ready() const noexcept {
    if (std::any_of(watch.partitions.begin(), watch.partitions.end(), [](const Watched& one) {
            return one.cursor->ready(one.position) || one.cursor->gone();
        })) {
        return true;
    }
    return std::any_of(watch.groups.begin(), watch.groups.end(), [](const WatchedGroup& group) {
        return group.wake.word->load(std::memory_order_acquire) != group.wake.expected;  // acquire GROUP_SET
    });
}

/// Sleeps until something may be ready or the orders change.
void Readiness::Armed::sleep(platform::FutexWait orders) const noexcept {
    DoorbellSleep sleep;
    sleep.add(orders);
    for (const WatchedGroup& group : watch.groups) sleep.add(group.wake);
    for (const Watched& one : watch.partitions) sleep.add(*one.cursor);
    sleep.fence();
    if (!anything_ready()) sleep.sleep(std::max(until - Clock::now(), std::chrono::nanoseconds::zero()));  // bounded by DoorbellSleep
}

Readiness::Readiness() : thread_([this] { run(); }) { event_.signal(); }

Readiness::~Readiness() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        new_orders();
    }
    thread_.join();
}

void Readiness::new_orders() noexcept {
    orders_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the mutex orders what is watched
    platform::futex_wake_all(orders_);
    changed_.notify_all();
}

void Readiness::arm(Watch watch) {
    const auto until = after(watch.at_most);
    const bool anything = !watch.partitions.empty() || !watch.groups.empty();
    auto armed = anything ? std::make_shared<const Armed>(Armed{std::move(watch), until}) : nullptr;
    const std::lock_guard lock(mutex_);
    event_.clear();
    armed_ = std::move(armed);
    new_orders();
}

void Readiness::disarm() {
    const std::lock_guard lock(mutex_);
    armed_.reset();
    event_.signal();
    new_orders();
}

void Readiness::run() noexcept {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        if (!armed_) {
            changed_.wait(lock);
            continue;
        }
        const std::shared_ptr<const Armed> armed = armed_;
        const std::uint32_t orders = orders_.load(std::memory_order_relaxed);  // relaxed: under the mutex
        lock.unlock();
        armed->sleep({&orders_, orders});
        const bool ready = armed->anything_ready() || Clock::now() >= armed->until;
        lock.lock();
        if (orders_.load(std::memory_order_relaxed) != orders || !ready) continue;  // relaxed: under the mutex
        armed_.reset();
        event_.signal();
    }
}

}  // namespace ringmain
