// A request and its answer, as the API sees them.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "http_peer.hpp"

namespace ringmain::daemon {

struct HttpCall {
    std::string method;             ///< GET, PUT, POST, PATCH or DELETE.
    std::vector<std::string> path;  ///< The segments of the target, each percent-decoded by itself.
    std::map<std::string, std::string> query;
    std::string body;
    std::optional<Peer> peer;                         ///< Nothing: over a port, from whoever.
    std::chrono::steady_clock::time_point arrived{};  ///< When the request was whole; it may have waited since.
    const std::atomic<bool>* called_off = nullptr;

    /// The caller is gone, or the daemon ends: what has not been done need not be.
    [[nodiscard]] bool is_called_off() const noexcept { return called_off->load(std::memory_order_relaxed); }
};

struct HttpAnswer {
    int status = 200;
    std::string body;
    std::string type = "application/json";
};

}  // namespace ringmain::daemon
