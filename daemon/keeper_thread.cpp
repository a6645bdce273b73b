// The keeper at work in a thread of its own.
#include "keeper_thread.hpp"

namespace ringmain::daemon {

void KeeperThread::start(std::chrono::milliseconds interval) {
    thread_ = std::jthread([this, interval](const std::stop_token& stop) { keeper_.run(stop, interval); });
}

void KeeperThread::stop() noexcept {
    const std::jthread ending = std::move(thread_);  // its destructor asks it to stop, and waits
}

}  // namespace ringmain::daemon
