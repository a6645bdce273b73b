// Subscriptions: the thread, and stopping it.
#include <exception>
#include <string>
#include <utility>

#include "error_about.hpp"
#include "push_impl.hpp"

namespace ringmain {

void Subscription::Impl::start() {
    thread_ = std::thread([this] {
        try {
            run();
        } catch (const std::exception& error) {
            note([&](PushStatistics& told) { told.error = error.what(); });
        }
        note([](PushStatistics& told) { told.ended = true; });
    });
}

void Subscription::Impl::stop() noexcept {
    stopping_.store(true, std::memory_order_release);  // release PUSH_STOP
    wake();
    const std::lock_guard lock(joining_);
    if (thread_.joinable())
        thread_.join();
}

PushStatistics Subscription::Impl::statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
}

void Subscription::Impl::note(const std::function<void(PushStatistics&)>& change) {
    const std::lock_guard lock(mutex_);
    change(statistics_);
}

void check_push_options(const PushOptions& options) {
    if (options.max_in_flight < 1 || options.max_in_flight > kPushInFlightMax) {
        throw error_about(
            ErrorCode::invalid_argument, "max_in_flight",
            "of " + std::to_string(options.max_in_flight) + " is outside 1.." + std::to_string(kPushInFlightMax));
    }
    if (options.lock_renewed_for < options.lock_renewed_for.zero() || options.lock_renewed_for > kLockTimeMax) {
        throw error_about(ErrorCode::invalid_argument, "lock_renewed_for",
                          "of " + std::to_string(options.lock_renewed_for.count()) + " ms is outside 0.." +
                              std::to_string(kLockTimeMax.count()) + " ms");
    }
}

Subscription::Subscription(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Subscription::Subscription(Subscription&&) noexcept = default;

Subscription& Subscription::operator=(Subscription&& other) noexcept {
    if (this != &other) {
        stop();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

Subscription::~Subscription() {
    if (impl_ && impl_->forked()) {
        (void)impl_.release();  // its thread does not exist here
        return;
    }
    stop();
}

void Subscription::stop() noexcept {
    if (impl_ && !impl_->forked())
        impl_->stop();
}

PushStatistics Subscription::statistics() const { return impl_ ? impl_->statistics() : PushStatistics{}; }

}  // namespace ringmain
