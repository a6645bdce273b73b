// What systemd is told about a daemon of Type=notify, and its watchdog.
#include "service_manager.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <exception>

#ifdef RINGMAIN_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

namespace ringmain::daemon {

namespace {

#ifdef RINGMAIN_HAVE_SYSTEMD
void tell(const char* state) noexcept { (void)sd_notify(0, state); }

std::optional<std::chrono::microseconds> watchdog_of_environment() noexcept {
    std::uint64_t within_us = 0;
    if (sd_watchdog_enabled(0, &within_us) <= 0)
        return std::nullopt;
    return std::chrono::microseconds(within_us);
}
#else
void tell(const char*) noexcept {}
std::optional<std::chrono::microseconds> watchdog_of_environment() noexcept { return std::nullopt; }
#endif

void tell(const std::string& state) noexcept { tell(state.c_str()); }

long long monotonic_us() noexcept {
    using namespace std::chrono;
    return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ServiceManager::ServiceManager() : watchdog_(watchdog_of_environment()) {}

bool ServiceManager::is_ignored() noexcept {
#ifdef RINGMAIN_HAVE_SYSTEMD
    return false;
#else
    return std::getenv("NOTIFY_SOCKET") != nullptr;
#endif
}

void ServiceManager::ready(const std::string& text) const noexcept {
    try {
        tell(fmt::format("READY=1\nSTATUS={}", text));
    } catch (const std::exception&) {
        tell("READY=1");
    }
}

void ServiceManager::reloading() const noexcept {
    try {
        tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=Reading the configuration again", monotonic_us()));
    } catch (const std::exception&) {
    }
}

void ServiceManager::stopping() const noexcept { tell("STOPPING=1\nSTATUS=Stopping"); }

void ServiceManager::status(const std::string& text) const noexcept {
    try {
        tell("STATUS=" + text);
    } catch (const std::exception&) {
    }
}

void ServiceManager::alive() const noexcept { tell("WATCHDOG=1"); }

}  // namespace ringmain::daemon
