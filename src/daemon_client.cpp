// Asking the daemon of a broker directory, if one listens there.
#include "daemon_client.hpp"

#include <optional>
#include <thread>

#include "platform/process.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using platform::LocalHttp;

constexpr auto kHealthPatience = 500ms;
constexpr auto kRunningPatience = 5000ms;  // with one that is not stopped, on a machine with too much to do
constexpr auto kHealthInterval = 1000ms;  // between two looks while an answer is waited for
constexpr auto kStopInterval = 20ms;
constexpr auto kLostPause = 5ms;
constexpr int kStatusGood = 200;

// Nothing: nobody listens, or this user may not ask.
std::optional<LocalHttp> connect_to(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
    try {
        return LocalHttp::connect(socket, timeout);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::permission_denied)
            return std::nullopt;
        throw;
    }
}

// False also if the kernel does not tell.
bool is_running(std::int32_t pid) noexcept {
    const auto number = static_cast<std::uint32_t>(pid);
    const auto look = pid > 0 ? platform::look_at_process(number, platform::start_ticks_of(number)) : std::nullopt;
    return look && !look->stopped;
}

}  // namespace

DaemonClient::DaemonClient(const std::filesystem::path& broker)
    : broker_(broker), socket_(keeper_socket_path(broker)) {}

std::string DaemonClient::silence() const {
    return "the daemon of '" + broker_.string() + "' (" +
           (pid_ != 0 ? "pid " + std::to_string(pid_) : std::string("in another pid namespace")) + ") does not answer";
}

DaemonClient::Health DaemonClient::look() {
    const auto begun = Clock::now();
    while (Clock::now() < begun + kHealthPatience) {
        auto request = connect_to(socket_, kHealthPatience);
        if (!request)
            return Health::absent;
        pid_ = request->peer_pid();
        request->ask("GET", "/v1/health");
        LocalHttp::State state = request->wait(kHealthPatience);
        while (state == LocalHttp::State::waiting && is_running(pid_) && Clock::now() < begun + kRunningPatience)
            state = request->wait(kHealthPatience);
        if (state == LocalHttp::State::done)
            return request->reply().status == kStatusGood ? Health::good : Health::silent;
        if (state == LocalHttp::State::waiting)
            return Health::silent;
        std::this_thread::sleep_for(kLostPause);  // lost: it ends, or there are too many connections
    }
    return Health::silent;
}

DaemonClient::Outcome DaemonClient::ask(std::string_view method, std::string_view target, std::string_view body,
                                        const std::function<bool()>& stop) {
    switch (look()) {
        case Health::absent:
            return Outcome::absent;
        case Health::silent:
            return Outcome::silent;
        case Health::good:
            break;
    }
    auto request = connect_to(socket_, kHealthPatience);
    if (!request)
        return Outcome::absent;
    request->ask(method, target, body);
    return wait(*request, stop);
}

DaemonClient::Outcome DaemonClient::wait(LocalHttp& request, const std::function<bool()>& stop) {
    auto next_look = Clock::now() + kHealthInterval;
    bool called_off = false;
    for (;;) {
        const bool asks_stop = stop && !called_off;
        switch (request.wait(asks_stop ? kStopInterval : kHealthInterval)) {
            case LocalHttp::State::done:
                reply_ = request.reply();
                return Outcome::answered;
            case LocalHttp::State::lost:
                return Outcome::lost;
            case LocalHttp::State::waiting:
                break;
        }
        if (asks_stop && stop()) {
            request.call_off();
            called_off = true;
        }
        if (Clock::now() < next_look)
            continue;
        switch (look()) {
            case Health::absent:
                return Outcome::lost;
            case Health::silent:
                return Outcome::left;
            case Health::good:
                break;
        }
        next_look = Clock::now() + kHealthInterval;
    }
}

}  // namespace ringmain
