// Where a keeper and its parts say what they did.
#pragma once

#include <functional>
#include <utility>

#include "ringmain/keeper.hpp"

namespace ringmain {

/// Hands events to the keeper's listener, if there is one. One thread at a time: the one in Keeper::do_work.
class KeeperEvents {
public:
    using Listener = std::function<void(const KeeperEvent&)>;

    KeeperEvents() = default;
    explicit KeeperEvents(Listener listener) : listener_(std::move(listener)) {}

    /// Tells what `make()` returns, a KeeperEvent. It is called only if somebody listens, so that texts cost nothing otherwise.
    /// A listener that throws has heard it, and a text for which there is no memory is not told: neither stops the keeper.
    template <class Make>
    void tell(const Make& make) const noexcept {
        if (!listener_) return;
        try {
            listener_(make());
        } catch (...) {
        }
    }

private:
    Listener listener_;
};

}  // namespace ringmain
