// A request on its way to whoever answers it.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "http_peer.hpp"

namespace ringmain::daemon {

/// A request that is being answered by a thread that does not know the connection.
struct HttpJob {
    std::string request;
    std::optional<Peer> peer;
    std::chrono::steady_clock::time_point arrived{};
    std::atomic<bool> called_off{false};  // relaxed: the answer does not depend on when it is seen
    std::string answer;                   // by the worker, before `done`
    std::atomic<bool> done{false};
};

}  // namespace ringmain::daemon
