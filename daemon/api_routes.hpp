// Which request is answered by what.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "http_server.hpp"
#include "service.hpp"

namespace ringmain::daemon {

/// Makes the text of /metrics, with figures of that time or later. From any thread.
using MetricsText = std::function<std::string(std::chrono::steady_clock::time_point)>;

/// Everything: for the Unix socket.
[[nodiscard]] HttpRouter::Handler api_handler(const ServiceContext& context, MetricsText metrics);
/// /metrics and /v1/health alone: for a port, whose users are not known.
[[nodiscard]] HttpRouter::Handler metrics_handler(const ServiceContext& context, MetricsText metrics);

/// A health request is answered by the thread that has it, so that it never waits for others.
[[nodiscard]] HttpWork work_of(std::string_view method, std::string_view target) noexcept;

}  // namespace ringmain::daemon
