// Asking the daemon of a broker directory, if one listens there. Nobody waits for one that is stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "platform/local_http.hpp"

namespace ringmain {

class DaemonClient {
public:
    explicit DaemonClient(const std::filesystem::path& broker);

    enum class Outcome : std::uint8_t {
        answered,  ///< `reply` has the answer.
        absent,    ///< Nobody listens, or this user may not ask: nothing was asked.
        silent,    ///< Somebody listens and does not answer: nothing was asked.
        left,      ///< It stopped answering after it was asked: it may still do it when it goes on.
        lost,      ///< It ended after it was asked: it may have done it.
    };
    /// Waits as long as the daemon shows that it is alive. `stop`, asked every few milliseconds: once it says true the
    /// request is called off, and the answer says which of both came first. Throws Error: limit, io.
    Outcome ask(std::string_view method, std::string_view target, std::string_view body = {},
                const std::function<bool()>& stop = {});

    [[nodiscard]] const platform::HttpReply& reply() const noexcept { return reply_; }
    /// "the daemon of '/dev/shm/ringmain' (pid 4711) does not answer".
    [[nodiscard]] std::string silence() const;

private:
    enum class Health : std::uint8_t { absent, silent, good };
    [[nodiscard]] Health look();
    [[nodiscard]] Outcome wait(platform::LocalHttp& request, const std::function<bool()>& stop);

    std::filesystem::path broker_;
    std::filesystem::path socket_;
    std::int32_t pid_ = 0;
    platform::HttpReply reply_;
};

}  // namespace ringmain
