// Ends the test executable with a message when a test that waits for others does not come to its end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace ringmain::test {

class Watchdog {
public:
    explicit Watchdog(std::string name, std::chrono::seconds limit = std::chrono::seconds(90))
        : thread_([name = std::move(name), limit](const std::stop_token& stop) {
              std::mutex mutex;
              std::condition_variable_any wake;
              std::unique_lock lock(mutex);
              if (wake.wait_for(lock, stop, limit, [&] { return stop.stop_requested(); }) || stop.stop_requested())
                  return;
              std::fprintf(stderr, "watchdog: '%s' hangs\n", name.c_str());
              std::abort();
          }) {}

private:
    std::jthread thread_;
};

}  // namespace ringmain::test
