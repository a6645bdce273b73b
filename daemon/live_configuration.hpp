// The configuration that is in force, which SIGHUP replaces as a whole.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "configuration.hpp"

namespace ringmain::daemon {

/// Thread safety: all calls from any thread. Whoever took a configuration keeps it as it was.
class LiveConfiguration {
public:
    explicit LiveConfiguration(Configuration first)
        : current_(std::make_shared<const Configuration>(std::move(first))) {}

    [[nodiscard]] std::shared_ptr<const Configuration> get() const {
        const std::lock_guard lock(mutex_);
        return current_;
    }
    void set(Configuration next) {
        auto replacement = std::make_shared<const Configuration>(std::move(next));
        const std::lock_guard lock(mutex_);
        current_ = std::move(replacement);
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const Configuration> current_;
};

}  // namespace ringmain::daemon
