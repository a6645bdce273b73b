// The pollable descriptor of a consumer.
#include "readiness.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "doorbell_sleep.hpp"
#include "platform/futex.hpp"

namespace ringmain {

namespace {

bool anything_ready(const std::vector<Watched>& watched) noexcept {
    return std::any_of(watched.begin(), watched.end(), [](const Watched& one) {
        return one.cursor->ready(one.position) || one.cursor->deleted();
    });
}

/// Sleeps until something may be ready or the orders change.
void sleep_on(const std::vector<Watched>& watched, platform::FutexWait orders) noexcept {
    DoorbellSleep sleep;
    sleep.add(orders);
    for (const Watched& one : watched) sleep.add(*one.cursor);
    sleep.fence();
    if (!anything_ready(watched)) sleep.sleep(std::chrono::hours(1));  // bounded by DoorbellSleep
}

}  // namespace

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

void Readiness::arm(std::vector<Watched> watched) {
    const std::lock_guard lock(mutex_);
    event_.clear();
    watched_ = std::move(watched);
    new_orders();
}

void Readiness::disarm() {
    const std::lock_guard lock(mutex_);
    watched_.clear();
    event_.signal();
    new_orders();
}

void Readiness::run() noexcept {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        if (watched_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const std::vector<Watched> watched = watched_;
        const std::uint32_t orders = orders_.load(std::memory_order_relaxed);  // relaxed: under the mutex
        lock.unlock();
        sleep_on(watched, {&orders_, orders});
        lock.lock();
        if (orders_.load(std::memory_order_relaxed) != orders || !anything_ready(watched_)) continue;  // relaxed: under the mutex
        watched_.clear();
        event_.signal();
    }
}

}  // namespace ringmain
